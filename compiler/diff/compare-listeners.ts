import { jsonValuesDefault } from "../../runtime/plan/json-scan.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import { sizeText } from "../../runtime/plan/quantities.ts"
import {
  bodyRateDefault,
  connectionsPerAddressDefault,
  type DeclaredListener,
  headMsDefault,
  ipv6PrefixDefault,
  limitKeysDefault,
} from "../../runtime/plan/resources.ts"
import {
  breaking,
  closes,
  compareFields,
  type FieldRules,
  type Finding,
  neutral,
  opens,
} from "../analysis/finding.ts"
import { same } from "../analysis/same.ts"
import { durationWords } from "../analysis/words.ts"
import { compareCallers, compareEngine } from "./compare-engine.ts"
import { engineLogChanges } from "./compare-engine-log.ts"
import { metricsChanges } from "./compare-metrics.ts"
import { recordChanges } from "./compare-record.ts"
import { tracingChanges } from "./compare-tracing.ts"
import { listenerChanges, listenerWords } from "./listener-changes.ts"
import { trustChanges } from "./trust-changes.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

type Gateway = NonNullable<PlanBody["gateway"]>
type Authz = NonNullable<PlanBody["authz"]>
type Limits = {
  readonly [Name in keyof Gateway["limits"]]-?: Exclude<Gateway["limits"][Name], undefined>
}

const gatewayScope = { kind: "gateway", name: "" } as const
const authzScope = { kind: "authz", name: "" } as const

/** Compares the gateway: addresses, trusted proxies, limits for all requests. */
export function compareGateways(plans: {
  readonly before: PlanBody
  readonly after: PlanBody
}): UnplacedChange[] {
  const { before, after } = { before: plans.before.gateway, after: plans.after.gateway }
  if (before === null || after === null) return sides("gateway", before, after)
  return [
    ...(before.name === after.name ? [] : [renamed(before.name, after.name)]),
    // The gateway's own listener is meant for clients, the engine's is not: each side judges a new address by its own rule.
    ...listenerChanges(
      { scope: gatewayScope, path: "gateway.listen", reach: publicListener },
      before.listen,
      after.listen,
    ),
    ...errorChanges(before.errors, after.errors),
    ...trustChanges(before.trust, after.trust, plans.after),
    ...limitChanges({ before: before.limits, after: after.limits }),
    ...sharedChanges(before.shared, after.shared),
    ...sharedCacheChanges(before.shared?.cacheBytesMax, after.shared?.cacheBytesMax),
    ...tracingChanges(before.tracing, after.tracing),
    ...metricsChanges(before.metrics, after.metrics),
    ...recordChanges(before.record, after.record),
    ...unmatchedChanges(before.onUnmatched ?? [], after.onUnmatched ?? []),
  ]
}

/** The form of error responses. Clients may parse them, so a change is `breaking`. */
function errorChanges(before: Gateway["errors"], after: Gateway["errors"]): UnplacedChange[] {
  if (before === after) return []
  const method = after === "apim" ? "404 instead of 405" : "405 instead of 404"
  return [
    changeOf(
      {
        // The action is always "changed": without the statement, the form is the default one and not none.
        ...{ action: "changed", subject: { kind: "gateway", name: "errors" }, scope: gatewayScope },
        ...{ path: "gateway.errors", before: `errors ${before}`, after: `errors ${after}` },
      },
      breaking(
        `error responses of the gateway have another body and other headers, and an unknown method on a known path gets ${method}`,
      ),
    ),
  ]
}

/** Whether processes share their counters. Without sharing, each process lets through the whole limit. */
function sharedChanges(before: Gateway["shared"], after: Gateway["shared"]): UnplacedChange[] {
  if (same({ ...before, cacheBytesMax: undefined }, { ...after, cacheBytesMax: undefined })) return []
  const words = (shared: Gateway["shared"]) =>
    // A counter in Redis and one in memory have nothing in common, so counts restart in both directions.
    `limits { shared redis ${shared?.redis} { wait ${durationWords(shared?.waitMs ?? null)} } }`
  const about = {
    subject: { kind: "limits", name: "shared" },
    scope: gatewayScope,
    path: "gateway.shared",
  } as const
  if (before === undefined)
    return [
      changeOf(
        { ...about, action: "added", after: words(after) },
        closes("a limit counts the calls of all processes together; all counts restart"),
      ),
    ]
  if (after === undefined)
    return [
      changeOf(
        { ...about, action: "removed", before: words(before) },
        opens(
          "each process counts separately: a caller gets the limit from each process; all counts restart",
        ),
      ),
    ]
  // `insecure` is the only part that changes who can be trusted; another address or wait changes only where the numbers are.
  const safer = before.tls.insecure && !after.tls.insecure
  const finding =
    !before.tls.insecure && after.tls.insecure
      ? opens("the certificate of Redis is not checked")
      : safer
        ? closes("the certificate of Redis is checked")
        : neutral("limits are counted over another connection to Redis")
  return [changeOf({ ...about, action: "changed", before: words(before), after: words(after) }, finding)]
}

/** Where the cache is. A cached response is one to the same request in both places, so nobody gets more or less. */
function sharedCacheChanges(before: number | undefined, after: number | undefined): UnplacedChange[] {
  if (before === after) return []
  const words = (bytes: number) => `limits { shared redis { cache ${sizeText(bytes)} } }`
  const about = {
    subject: { kind: "limits", name: "shared cache" },
    scope: gatewayScope,
    path: "gateway.shared.cacheBytesMax",
  } as const
  if (after === undefined)
    return [
      changeOf(
        { ...about, action: "removed", before: words(before ?? 0) },
        neutral("each process has a cache of its own, which starts empty"),
      ),
    ]
  if (before === undefined)
    return [
      changeOf(
        { ...about, action: "added", after: words(after) },
        neutral(
          "all processes share one cache in Redis, which starts empty; who can read Redis can read cached responses",
        ),
      ),
    ]
  return [
    changeOf(
      { ...about, action: "changed", before: words(before), after: words(after) },
      neutral(
        after > before ? "the shared cache keeps more entries" : "the shared cache keeps fewer entries",
      ),
    ),
  ]
}

/** The steps themselves are compared with the routes, whose `on-error` contains them too. */
function unmatchedChanges(before: readonly string[], after: readonly string[]): UnplacedChange[] {
  if (same(before, after)) return []
  const words = "on-error of the gateway's documents"
  return [
    changeOf(
      {
        ...{ subject: { kind: "gateway", name: "requests that match no route" }, scope: gatewayScope },
        path: "gateway.onUnmatched",
        ...(before.length === 0
          ? { action: "added", after: words }
          : after.length === 0
            ? { action: "removed", before: words }
            : { action: "changed", before: words, after: words }),
      },
      neutral("requests that match no route may get another response"),
    ),
  ]
}

/** Compares the engine without its stores. */
export function compareAuthzs(before: Authz | null, after: Authz | null): UnplacedChange[] {
  if (before === null || after === null)
    return [
      ...sides("authz", before, after),
      // Only the callers: the other differences of `compareCallers` compare with a side that does not exist.
      ...compareCallers(null, after?.auth ?? null).filter(({ subject }) => subject.kind === "caller"),
    ]
  const found = [
    ...listenerChanges(
      { scope: authzScope, path: "authz.listen", reach: engineListener(after) },
      before.listen,
      after.listen,
    ),
    ...compareEngine(before, after),
  ]
  const subject = { kind: "authz", name: "" } as const
  if (before.public !== after.public)
    found.push(
      changeOf(
        {
          action: after.public ? "added" : "removed",
          subject,
          scope: authzScope,
          path: "authz.public",
          ...(after.public ? { after: "public" } : { before: "public" }),
        },
        after.public
          ? opens(`the engine may listen on a public address${asksNobody(after)}`)
          : closes("the engine listens only on loopback or private addresses"),
      ),
    )
  if (before.maxStalenessMs !== after.maxStalenessMs) {
    const words = (ms: number | null) => `max-staleness ${durationWords(ms)}`
    found.push(
      changeOf(
        {
          action: "changed",
          subject,
          scope: authzScope,
          path: "authz.maxStalenessMs",
          before: words(before.maxStalenessMs),
          after: words(after.maxStalenessMs),
        },
        // Older tuples in memory may contain permissions that are already deleted. So more staleness opens.
        isMore(before.maxStalenessMs, after.maxStalenessMs)
          ? opens("while the database is unavailable, revoked permissions stay in effect longer")
          : closes("while the database is unavailable, checks are refused sooner"),
      ),
    )
  }
  if (before.memoryBytes !== after.memoryBytes)
    found.push(memoryChange(before.memoryBytes, after.memoryBytes))
  if (before.readyWhenWarm !== after.readyWhenWarm) found.push(readyChange(after.readyWhenWarm))
  found.push(...engineLogChanges(before.log, after.log))
  return found
}

/** The memory for tuples has no effect on answers, only on their speed and on very large checks. */
function memoryChange(before: number, after: number): UnplacedChange {
  return changeOf(
    {
      action: "changed",
      subject: { kind: "authz", name: "" },
      scope: authzScope,
      path: "authz.memoryBytes",
      before: `memory ${sizeText(before)}`,
      after: `memory ${sizeText(after)}`,
    },
    neutral(
      after > before
        ? "more tuples are held in memory"
        : "fewer tuples are held in memory: checks may take longer, or fail because they need more memory",
    ),
  )
}

function readyChange(whenWarm: boolean): UnplacedChange {
  const words = whenWarm ? { after: "ready when warm" } : { before: "ready when warm" }
  const subject = { kind: "authz", name: "" } as const
  const action = whenWarm ? "added" : "removed"
  return changeOf(
    { action, subject, scope: authzScope, path: "authz.readyWhenWarm", ...words },
    neutral(
      whenWarm
        ? "a process that starts gets requests only when its tuples are in memory"
        : "a process that starts gets requests at once, and reads tuples from the database until they are in memory",
    ),
  )
}

/** Null means no limit. */
function isMore(before: number | null, after: number | null): boolean {
  return after === null || (before !== null && after > before)
}

/** A whole side that begins or ends. */
function sides(
  kind: "gateway" | "authz",
  before: Gateway | Authz | null,
  after: Gateway | Authz | null,
): UnplacedChange[] {
  if (before === null && after === null) return []
  const side = (after ?? before) as Gateway | Authz
  const listen = side.listen.map(listenerWords).join("; ")
  const words = listen === "" ? kind : `${kind} { ${listen} }`
  const about = {
    subject: { kind, name: "name" in side ? side.name : "" },
    scope: { kind, name: "" },
    path: kind,
  } as const
  if (before !== null)
    return [
      changeOf(
        { ...about, action: "removed", before: words },
        // An engine without listener was used by `require` only. Those steps are compared with their routes.
        side.listen.length > 0
          ? breaking("the gateway no longer listens there")
          : neutral("it is no longer used"),
      ),
    ]
  // Only the engine has `auth`; the gateway's plan has that per route.
  const reach = "auth" in side ? engineListener(side) : publicListener
  return [
    changeOf(
      { ...about, action: "added", after: words },
      side.listen.length > 0
        ? side.listen.map(reach)
        : neutral("now only `require` and `filter` use the engine"),
    ),
  ]
}

/** The name is shown in logs only. */
function renamed(before: string, after: string): UnplacedChange {
  return changeOf(
    {
      action: "changed",
      subject: { kind: "gateway", name: after },
      scope: gatewayScope,
      path: "gateway.name",
      before: `gateway ${before}`,
      after: `gateway ${after}`,
    },
    neutral("only the name has changed"),
  )
}

function publicListener(listener: DeclaredListener): Finding {
  return isLoopback(listener)
    ? neutral("only clients on this machine reach it")
    : opens("clients reach the gateway at this address")
}

/** Who reaches the engine at an address. */
function engineListener(authz: Authz): (listener: DeclaredListener) => Finding {
  return (listener) => {
    if (isLoopback(listener)) return neutral("only clients on this machine reach the engine at this address")
    return opens(
      authz.auth === null
        ? "the engine does not authenticate callers: everybody who reaches this address can read and write"
        : "authenticated callers reach the engine at this address",
    )
  }
}

/** The addition to a finding when the engine answers without credentials. */
function asksNobody({ auth }: Authz): string {
  return auth === null ? ", and it does not authenticate callers" : ""
}

/** Loopback is all of 127.0.0.0/8 (RFC 1122, section 3.2.1.3) and ::1. An address that comes from outside may be any. */
function isLoopback(listener: DeclaredListener): boolean {
  if ("at" in listener) return false
  const { host } = listener
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host)
}

function rateWords({ bytes, ms }: Limits["bodyRate"]): string {
  return `${sizeText(bytes)} per ${durationWords(ms)}`
}

/** Limits as they are written in gateway.conf. */
const limitWords: { readonly [Key in keyof Limits]: (limits: Limits) => string } = {
  bodyBytesMax: ({ bodyBytesMax }) => `limits { body ${sizeText(bodyBytesMax)} }`,
  bufferBytesMax: ({ bufferBytesMax }) => `limits { buffer ${sizeText(bufferBytesMax)} }`,
  headerBytesMax: ({ headerBytesMax }) => `limits { header ${sizeText(headerBytesMax)} }`,
  headersMax: ({ headersMax }) => `limits { headers ${headersMax} }`,
  timeoutMs: ({ timeoutMs }) => `limits { timeout ${durationWords(timeoutMs)} }`,
  ipv6Prefix: ({ ipv6Prefix }) => `limits { ipv6-prefix ${ipv6Prefix} }`,
  jsonValuesMax: ({ jsonValuesMax }) => `limits { json-values ${jsonValuesMax} }`,
  headMs: ({ headMs }) => `limits { head-timeout ${durationWords(headMs)} }`,
  bodyRate: ({ bodyRate }) => `limits { body-rate ${rateWords(bodyRate)} }`,
  connectionsPerAddressMax: ({ connectionsPerAddressMax }) =>
    `limits { connections-per-address ${connectionsPerAddressMax ?? "none"} }`,
  newConnectionsPerAddressMax: ({ newConnectionsPerAddressMax }) =>
    Number.isFinite(newConnectionsPerAddressMax)
      ? `limits { new-connections-per-address ${newConnectionsPerAddressMax} }`
      : "no limits { new-connections-per-address }",
  limitKeysMax: ({ limitKeysMax }) => `limits { limit-keys ${limitKeysMax} }`,
}

/** Limits by their names in gateway.conf. */
const limitNames: { readonly [Key in keyof Limits]: string } = {
  bodyBytesMax: "body",
  bufferBytesMax: "buffer",
  headerBytesMax: "header",
  headersMax: "headers",
  timeoutMs: "timeout",
  ipv6Prefix: "ipv6-prefix",
  jsonValuesMax: "json-values",
  headMs: "head-timeout",
  bodyRate: "body-rate",
  connectionsPerAddressMax: "connections-per-address",
  newConnectionsPerAddressMax: "new-connections-per-address",
  limitKeysMax: "limit-keys",
}

/** The effect of each changed limit. */
const limitRules: FieldRules<Limits> = {
  headMs: (before, after) =>
    after > before
      ? opens(`the head of a request may take ${durationWords(after)}`)
      : closes(`heads that take longer than ${durationWords(after)} get 408`),
  bodyRate: (before, after) =>
    after.bytes / after.ms < before.bytes / before.ms || after.ms > before.ms
      ? opens(`bodies may be slower: ${rateWords(after)}`)
      : closes(`bodies that send less than ${rateWords(after)} get 408`),
  connectionsPerAddressMax: (before, after) =>
    (after ?? Number.POSITIVE_INFINITY) > (before ?? Number.POSITIVE_INFINITY)
      ? opens("one address may have more connections open")
      : breaking("further connections of one address are closed"),
  newConnectionsPerAddressMax: (before, after) =>
    after > before
      ? opens("one address may open more connections in a second")
      : breaking("further connections of one address in a second are closed"),
  bodyBytesMax: (before, after) =>
    after > before ? opens("larger bodies reach the backends") : closes("larger bodies get 413"),
  bufferBytesMax: (before, after) =>
    after > before
      ? opens("larger bodies are accepted where a statement reads the complete body")
      : closes("larger bodies are refused where a statement reads the complete body"),
  headerBytesMax: (before, after) =>
    after > before
      ? opens("larger request heads reach the backends")
      : closes("larger request heads get 431"),
  headersMax: (before, after) =>
    after > before ? opens("more headers reach the backends") : closes("requests with more headers get 431"),
  timeoutMs: (before, after) => {
    // Without a limit a slow client can hold a request open as long as it likes, which `isMore` alone would call neutral.
    if (after === null) return opens("slow requests are not ended, except on routes with their own `timeout`")
    return isMore(before, after)
      ? neutral(`requests may take ${durationWords(after)}, except on routes with their own \`timeout\``)
      : closes(
          `requests that take longer than ${durationWords(after)} get 504, except on routes with their own \`timeout\``,
        )
  },
  ipv6Prefix: (before, after) =>
    // A longer prefix divides a network into more callers, and each of them has the whole limit.
    after > before
      ? opens("limits by address divide the addresses of an IPv6 network among more callers")
      : closes("limits by address count more IPv6 addresses as one caller"),
  jsonValuesMax: (before, after) =>
    after > before
      ? opens("JSON bodies with more values are accepted where a statement reads them")
      : closes("JSON bodies with more values are refused where a statement reads them"),
  limitKeysMax: (before, after) =>
    after > before
      ? neutral("each limit counts more callers at a time, which takes more memory")
      : opens(
          "each limit counts fewer callers at a time: with more, those with the fewest calls start again",
        ),
}

/** Limits with their defaults: a limit that is written with its default is not a change. */
function limitChanges(plans: {
  readonly before: Gateway["limits"]
  readonly after: Gateway["limits"]
}): UnplacedChange[] {
  const before = withDefaults(plans.before)
  const after = withDefaults(plans.after)
  return (Object.keys(limitRules) as (keyof Limits)[])
    .filter((key) => !same(before[key], after[key]))
    .map((key) =>
      changeOf(
        {
          action: "changed",
          subject: { kind: "limits", name: limitNames[key] },
          scope: gatewayScope,
          path: `gateway.limits.${key}`,
          before: limitWords[key](before),
          after: limitWords[key](after),
        },
        compareFields({ [key]: limitRules[key] } as unknown as FieldRules<Limits>, before, after),
      ),
    )
}

function withDefaults(limits: Gateway["limits"]): Limits {
  const {
    ipv6Prefix = ipv6PrefixDefault,
    jsonValuesMax = jsonValuesDefault,
    limitKeysMax = limitKeysDefault,
    headMs = headMsDefault,
    bodyRate = bodyRateDefault,
    connectionsPerAddressMax = connectionsPerAddressDefault,
    newConnectionsPerAddressMax = Number.POSITIVE_INFINITY,
  } = limits
  const connections = { connectionsPerAddressMax, newConnectionsPerAddressMax }
  return { ...limits, ipv6Prefix, jsonValuesMax, limitKeysMax, headMs, bodyRate, ...connections }
}
