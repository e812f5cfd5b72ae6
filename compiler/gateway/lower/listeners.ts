import { memoryBytesDefault } from "../../../runtime/plan/authz.ts"
import { jsonValuesDefault } from "../../../runtime/plan/json-scan.ts"
import type { PlanBody } from "../../../runtime/plan/plan.ts"
import { type Address, ipv6PrefixDefault, limitKeysDefault } from "../../../runtime/plan/resources.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import { bytesOf } from "../bind/addresses.ts"
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
import { lowerAuthzen, lowerEngineCors, lowerEngineLimits } from "./engine-settings.ts"
import type { KeyUses } from "./key-uses.ts"
import { idsOf, type Lowered } from "./step.ts"
import type { StoreModels } from "./store-model.ts"
import type { Values } from "./values.ts"

/** Default timeout of an exchange. */
const defaultTimeoutMs = 30_000

/** Default maximum age of the engine's data: during an outage, revoked access must not stay open for longer. */
const defaultMaxStalenessMs = 10_000

type Gateway = NonNullable<PlanBody["gateway"]>

interface Listener {
  readonly address: Address
  readonly span: Span
}

/** Limits of the plan; no real host has that many addresses. */
const listenersMax = 16
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
  return {
    name,
    listen: addresses(listenersOf(block, report)),
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
      ...jsonValuesOf(limits),
      ...limitKeysOf(limits),
    },
    ...sharedOf(limits, values),
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
  const listeners = listenersOf(authz.block, report)
  const isPublic = mentions(authz.block, "public")
  const auth = lowerEngineAuth(program, values, keyUses, report)
  // An `auth` that was not understood was meant to authenticate callers.
  const asks =
    auth !== null || authz.block?.statements.some(({ row, broken }) => row.keyword === "auth" && broken)
  // `public` is the sentence in the text that a reviewer can see.
  if (!isPublic && asks !== true) for (const listener of listeners) checkPrivate(listener, report)
  const stores: NonNullable<PlanBody["authz"]>["stores"] = {}
  for (const { name } of program.all("store")) {
    const model = models.get(name)
    // A store without a valid model is reported with the model.
    if (model !== undefined) stores[name] = { model: model.digest }
  }
  const staleness = statementOf(authz.block, "max-staleness")?.args.value<number | null>("time")
  const memory = statementOf(authz.block, "memory")?.args.value<number>("size")
  return {
    listen: addresses(listeners),
    public: isPublic,
    maxStalenessMs: staleness === undefined ? defaultMaxStalenessMs : staleness,
    memoryBytes: memory ?? memoryBytesDefault,
    readyWhenWarm: mentions(authz.block, "ready"),
    auth,
    limits: lowerEngineLimits(authz.block),
    cors: lowerEngineCors(authz.block, report),
    authzen: lowerAuthzen(program, values, report),
    stores,
  }
}

/** Reports addresses, of the gateway and the engine, that cannot be listened on at the same time. */
export function checkClashes(program: Program, report: Report): void {
  // Both sides in one list: the gateway and the engine cannot share a port either.
  const all = [program.gateway, program.authz].flatMap((side) => listenersOf(side?.block, report))
  all.forEach((later, index) => {
    const earlier = all.slice(0, index).find((each) => clash(each.address, later.address))
    if (earlier === undefined) return
    const same = earlier.address.host === later.address.host
    const detail = same
      ? "another listener already uses this address"
      : `\`${later.address.host}\` and \`${earlier.address.host}\` overlap on port ${later.address.port}`
    report.add("SP3015", later.span, detail, {
      related: [{ span: earlier.span, message: "the other listener" }],
    })
  })
}

/** All addresses of a block, as far as the plan can have them. */
function listenersOf(block: BoundBlock | undefined, report: Report): Listener[] {
  const listeners = statementsOf(block, "listen").flatMap(({ args }) =>
    args.all("address").map(({ argument, value }) => ({ address: value as Address, span: argument.span })),
  )
  const tooMany = listeners[listenersMax]
  if (tooMany !== undefined)
    report.add(
      "SP3016",
      tooMany.span,
      `there are ${listeners.length} addresses; the maximum is ${listenersMax}`,
    )
  // The rest is cut, so that the plan stays valid and one mistake is one finding.
  return listeners.slice(0, listenersMax)
}

function addresses(listeners: readonly Listener[]): Address[] {
  // Port as text of one width: the order of texts is then the order of numbers.
  const key = ({ host, port }: Address): string => `${host} ${String(port).padStart(5, "0")}`
  return listeners.map(({ address }) => address).sort((a, b) => (key(a) < key(b) ? -1 : 1))
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

/** An engine without `auth` may be reached from inside only. An address that is read from the environment counts as unknown. */
function checkPrivate({ address, span }: Listener, report: Report): void {
  const where = reachOf(address.host)
  if (where === "inside") return
  const why =
    where === "everywhere"
      ? `\`${address.host}\` listens on every interface`
      : where === "unknown"
        ? `the address of \`${address.host}\` is only known on the machine that runs the gateway`
        : `\`${address.host}\` is a public address`
  report.add("SP3014", span, why)
}

/** Loopback, private (RFC 1918, RFC 4193), link-local and shared (RFC 6598) addresses count as inside. */
function reachOf(host: string): "inside" | "everywhere" | "outside" | "unknown" {
  if (host === "localhost" || host === "localhost.") return "inside"
  const bytes = bytesOf(host)
  // A host name, or a value of the environment: nobody can say here who reaches it.
  if (bytes === undefined) return "unknown"
  if (bytes.every((byte) => byte === 0)) return "everywhere"
  // `::ffff:10.0.0.1` is an IPv4 address in IPv6 notation (RFC 4291, section 2.5.5.2).
  const mapped =
    bytes.length === 16 &&
    bytes.slice(0, 10).every((byte) => byte === 0) &&
    bytes[10] === 255 &&
    bytes[11] === 255
  const [a = 0, b = 0] = mapped ? bytes.slice(12) : bytes
  if (bytes.length === 4 || mapped) {
    const inside =
      a === 127 ||
      a === 10 ||
      (a === 172 && b >= 16 && b < 32) ||
      (a === 192 && b === 168) ||
      (a === 169 && b === 254) ||
      (a === 100 && b >= 64 && b < 128)
    return inside ? "inside" : "outside"
  }
  const loopback = bytes.slice(0, 15).every((byte) => byte === 0) && bytes[15] === 1
  // `fc00::/7` (RFC 4193) and `fe80::/10` (RFC 4291).
  return loopback || (a & 0xfe) === 0xfc || (a === 0xfe && (b & 0xc0) === 0x80) ? "inside" : "outside"
}

/** `0.0.0.0` occupies a port on every IPv4 address, `::` on every address. */
function clash(a: Address, b: Address): boolean {
  if (a.port !== b.port) return false
  if (a.host === b.host) return true
  const isV4 = (host: string): boolean => !host.includes(":")
  const covers = (wide: string, host: string): boolean => wide === "::" || (wide === "0.0.0.0" && isV4(host))
  return covers(a.host, b.host) || covers(b.host, a.host)
}
