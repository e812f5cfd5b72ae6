import { memoryBytesDefault } from "../../../runtime/plan/authz.ts"
import { jsonValuesDefault } from "../../../runtime/plan/json-scan.ts"
import type { PlanBody } from "../../../runtime/plan/plan.ts"
import {
  bodyRateDefault,
  headMsDefault,
  ipv6PrefixDefault,
  limitKeysDefault,
} from "../../../runtime/plan/resources.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import {
  type BoundBlock,
  type BoundStatement,
  headSpan,
  mentions,
  statementOf,
  statementsOf,
} from "../bind/bound.ts"
import type { Program } from "../program.ts"
import { lowerEngineAuth } from "./engine-auth.ts"
import { lowerAuthzen, lowerEngineCors, lowerEngineLimits, lowerEngineLog } from "./engine-settings.ts"
import type { KeyUses } from "./key-uses.ts"
import { engineListeners, publicListeners } from "./listen.ts"
import { lowerMetrics } from "./metrics.ts"
import { lowerMoves } from "./moves.ts"
import { lowerRecord } from "./record.ts"
import { idsOf, type Lowered } from "./step.ts"
import type { StoreModels } from "./store-model.ts"
import { lowerTracing } from "./tracing.ts"
import type { Values } from "./values.ts"

/** Default timeout of an exchange. */
const defaultTimeoutMs = 30_000

/** Default maximum age of the engine's data: during an outage, revoked access must not stay open for longer. */
const defaultMaxStalenessMs = 10_000

type Gateway = NonNullable<PlanBody["gateway"]>

/** How many connections one address may have. */
function connectionsOf(
  limits: BoundBlock | undefined,
): Pick<Gateway["limits"], "connectionsPerAddressMax" | "newConnectionsPerAddressMax"> {
  const open = statementOf(limits, "connections-per-address")
  const fresh = statementOf(limits, "new-connections-per-address")?.args.value<number>("count")
  return {
    ...(open === undefined || open.broken
      ? {}
      : { connectionsPerAddressMax: open.args.value<number>("count") ?? null }),
    ...(fresh === undefined ? {} : { newConnectionsPerAddressMax: fresh }),
  }
}

/** How slowly clients may send. The defaults are left out, as in `ipv6PrefixOf`. */
function paceOf(limits: BoundBlock | undefined): Pick<Gateway["limits"], "headMs" | "bodyRate"> {
  const headMs = statementOf(limits, "head-timeout")?.args.value<number>("time") ?? headMsDefault
  const rate = statementOf(limits, "body-rate")?.args
  const [bytes, ms] = [rate?.value<number>("size"), rate?.value<number>("time")]
  const isDefault = bytes === bodyRateDefault.bytes && ms === bodyRateDefault.ms
  return {
    ...(headMs === headMsDefault ? {} : { headMs }),
    ...(bytes === undefined || ms === undefined || isDefault ? {} : { bodyRate: { bytes, ms } }),
  }
}

/** Limit of the plan. */
const networksMax = 1000

/** The gateway's listeners; null when there are none or they are not understood. */
export function lowerGateway(
  program: Program,
  values: Values,
  report: Report,
  onUnmatched: readonly Lowered[],
): PlanBody["gateway"] {
  const { gateway } = program
  const name = gateway?.args.word("name")?.text
  if (gateway === undefined || name === undefined) return null
  const { block } = gateway
  const limits = statementOf(block, "limits")?.block
  const listen = publicListeners(program, { values, report })
  values.needIn(listen)
  return {
    name,
    listen,
    trust: lowerTrust(block, report),
    errors: errorsOf(gateway),
    limits: {
      // 10 MB, 2 MB and 16 KB: bodies of ordinary APIs, what a statement may hold in memory per request, and Node's own limit for heads.
      bodyBytesMax: statementOf(limits, "body")?.args.value<number>("size") ?? 10 * 2 ** 20,
      bufferBytesMax: statementOf(limits, "buffer")?.args.value<number>("size") ?? 2 * 2 ** 20,
      headerBytesMax: statementOf(limits, "header")?.args.value<number>("size") ?? 16 * 2 ** 10,
      headersMax: statementOf(limits, "headers")?.args.value<number>("count") ?? 100,
      timeoutMs: timeoutOf(gateway),
      ...ipv6PrefixOf(limits),
      ...paceOf(limits),
      ...connectionsOf(limits),
      ...jsonValuesOf(limits),
      ...limitKeysOf(limits),
    },
    ...sharedOf(limits, values),
    ...lowerTracing(block, values, report),
    ...lowerMetrics(block, values, report),
    ...lowerRecord(block, values, report),
    ...(onUnmatched.length === 0 ? {} : { onUnmatched: idsOf(onUnmatched) }),
  }
}

/** The default is left out, so that the plan stays equal to plans from before the setting existed. */
function ipv6PrefixOf(limits: BoundBlock | undefined): { readonly ipv6Prefix?: number } {
  const ipv6Prefix = statementOf(limits, "ipv6-prefix")?.args.value<number>("bits") ?? ipv6PrefixDefault
  return ipv6Prefix === ipv6PrefixDefault ? {} : { ipv6Prefix }
}

/** The default is left out, as in `ipv6PrefixOf`; also in `limitKeysOf`. */
function jsonValuesOf(limits: BoundBlock | undefined): { readonly jsonValuesMax?: number } {
  const jsonValuesMax = statementOf(limits, "json-values")?.args.value<number>("count") ?? jsonValuesDefault
  return jsonValuesMax === jsonValuesDefault ? {} : { jsonValuesMax }
}

function limitKeysOf(limits: BoundBlock | undefined): { readonly limitKeysMax?: number } {
  const limitKeysMax = statementOf(limits, "limit-keys")?.args.value<number>("count") ?? limitKeysDefault
  return limitKeysMax === limitKeysDefault ? {} : { limitKeysMax }
}

/** How long requests wait for Redis: a reply takes less than a millisecond in one data center. */
const defaultSharedWaitMs = 50

/** The Redis that counts for all processes, and that may hold their cache. */
function sharedOf(limits: BoundBlock | undefined, values: Values): Pick<Gateway, "shared"> {
  const shared = statementOf(limits, "shared")
  const url = shared?.args.word("url")?.text
  if (shared === undefined || url === undefined) return {}
  // The URL contains the password of Redis, so it is always a secret.
  values.needSecret(url)
  const tls = statementOf(shared.block, "tls")?.block
  const ca = statementOf(tls, "ca")?.args.value<{ file: string }>("file")
  const insecure = statementOf(tls, "insecure") !== undefined
  const waitMs = statementOf(shared.block, "wait")?.args.value<number>("time") ?? defaultSharedWaitMs
  const cacheBytesMax = statementOf(shared.block, "cache")?.args.value<number>("size")
  const cache = cacheBytesMax === undefined ? {} : { cacheBytesMax }
  return { shared: { redis: url, waitMs, tls: { ...(ca === undefined ? {} : { ca }), insecure }, ...cache } }
}

/** The format of the gateway's own error responses. */
export function errorsOf(gateway: BoundStatement | undefined): "problem" | "apim" {
  return statementOf(gateway?.block, "errors")?.args.value<"problem" | "apim">("format") ?? "problem"
}

/** The gateway's default timeout for operations without a `timeout`. */
export function timeoutOf(gateway: BoundStatement | undefined): number | null {
  const limits = statementOf(gateway?.block, "limits")?.block
  const time = statementOf(limits, "timeout")?.args.value<number | null>("time")
  return time === undefined ? defaultTimeoutMs : time
}

/** The inputs for lowering the engine. */
interface EngineSources {
  readonly program: Program
  readonly models: StoreModels
  readonly values: Values
  readonly report: Report
}

/** The engine; null when there is none. A store without a valid model is left out (reported). */
export function lowerAuthz(
  { program, models, values, report }: EngineSources,
  keyUses: KeyUses,
): PlanBody["authz"] {
  const { authz } = program
  if (authz === undefined) return null
  const isPublic = mentions(authz.block, "public")
  const auth = lowerEngineAuth(program, values, keyUses, report)
  // An `auth` that was not understood was meant to authenticate callers.
  const asks =
    auth !== null || authz.block?.statements.some(({ row, broken }) => row.keyword === "auth" && broken)
  // `public` is the sentence in the text that a reviewer can see.
  const listen = engineListeners(program, !isPublic && asks !== true, { values, report })
  const stores: NonNullable<PlanBody["authz"]>["stores"] = {}
  for (const { name, bound } of program.all("store")) {
    const model = models.get(name)
    // A store without a valid model is reported with the model.
    if (model === undefined) continue
    const moves = lowerMoves(bound.block, model, report)
    stores[name] = { model: model.digest, ...(moves.length === 0 ? {} : { moves }) }
  }
  const staleness = statementOf(authz.block, "max-staleness")?.args.value<number | null>("time")
  const memory = statementOf(authz.block, "memory")?.args.value<number>("size")
  return {
    listen,
    public: isPublic,
    maxStalenessMs: staleness === undefined ? defaultMaxStalenessMs : staleness,
    memoryBytes: memory ?? memoryBytesDefault,
    readyWhenWarm: mentions(authz.block, "ready"),
    auth,
    limits: lowerEngineLimits(authz.block),
    cors: lowerEngineCors(authz.block, report),
    authzen: lowerAuthzen(program, values, report),
    ...lowerEngineLog(authz.block, values),
    stores,
  }
}

/** Networks of trusted proxies, each once. `trust none` excludes others. */
function lowerTrust(block: BoundBlock | undefined, report: Report): string[] {
  const statements = statementsOf(block, "trust")
  const none = statements.find(({ args }) => args.get("network") === undefined)
  const other = statements.find((each) => each !== none)
  if (none !== undefined && other !== undefined) {
    report.add(
      "SP2017",
      headSpan(none.statement),
      "`trust none` trusts no proxy, so the other `trust` has no effect",
      {
        related: [{ span: headSpan(other.statement), message: "the other `trust`" }],
      },
    )
  }
  const networks = new Map<string, Span>()
  for (const { argument, value } of statements.flatMap(({ args }) => args.all("network"))) {
    const earlier = networks.get(value as string)
    if (earlier !== undefined) {
      report.add("SP2016", argument.span, `the network \`${value}\` is given twice`, {
        related: [{ span: earlier, message: "the first" }],
      })
    } else networks.set(value as string, argument.span)
  }
  const all = [...networks.keys()]
  if (all.length > networksMax)
    report.add(
      "SP3016",
      networks.get(all[networksMax] as string),
      `there are ${all.length} networks; the maximum is ${networksMax}`,
    )
  return all.sort()
}
