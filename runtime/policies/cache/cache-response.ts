import { createHash } from "node:crypto"
import type { Boarding, Cache, Cached } from "../../cache/cache.ts"
import { stepIdOf } from "../../plan/canonical.ts"
import type { StepOf } from "../../plan/steps.ts"
import { type Exchange, type PendingResponse, responseBody } from "../exchange.ts"
import { HeaderList } from "../messages/header-list.ts"
import type { Outcome, Policy, Provision, Run } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { type CompiledText, compileText } from "../values/text.ts"
import { compileCount, compileFlag } from "../values/value.ts"
import { decodeResponse, encodeResponse } from "./cached-response.ts"
import { compilePromptVector } from "./prompt-vector.ts"

/** What a lookup without a hit leaves for the store step. */
interface Miss {
  readonly plan: StepOf<"cache-lookup">
  readonly key: string
  readonly land: (() => void) | undefined
  /** Called when the response is stored; only for POST, whose responses are found by their vectors. */
  readonly kept?: () => void
}

const misses = new WeakMap<Exchange, Miss>()

/** Maximum wait for the response of another exchange; after that it is better to ask the backend. */
const coalesceMs = 5_000
/** Marks the entry that lists the fields a response varies by. Its key does not contain those fields. */
const indexForm = "v"

/**
 * Responds from the cache when it has a response to this request; processing then continues after the `cache-store` that stored it. Only for GET and
 * HEAD; for requests with a token only when the plan allows it.
 */
export const cacheLookup: Policy<"cache-lookup"> = (plan, provision) =>
  plan.like === undefined ? sameLookup(plan, provision) : likeLookup(plan, plan.like, provision)

/** The lookup. A response to a request with credentials is found only if the plan allows it. */
const sameLookup: Policy<"cache-lookup"> = (plan, provision) => {
  const cache = provision.cache()
  const space = stepIdOf(plan)
  const own = plan.key === undefined ? undefined : compileText(plan.key, provision, anyText)
  const { now } = provision.clock
  return (exchange) => {
    if (exchange.method !== "GET" && exchange.method !== "HEAD") return undefined
    if (!plan.authorized && hasCredentials(exchange)) return undefined
    const key = keyOf(plan, space, own, exchange)
    const found = find(cache, key, exchange)
    const settle = (cached: Cached | undefined) =>
      cached === undefined ? undefined : hit(plan, cached, exchange, now())
    if (found instanceof Promise)
      return found.then((late) => settle(late) ?? miss(plan, cache, key, exchange, settle))
    return settle(found) ?? miss(plan, cache, key, exchange, settle)
  }
}

/** Finds the response to a similar prompt. Without a vector nothing is looked up or stored. */
function likeLookup(
  plan: StepOf<"cache-lookup">,
  like: NonNullable<StepOf<"cache-lookup">["like"]>,
  provision: Provision,
): Run {
  const cache = provision.cache()
  const space = stepIdOf(plan)
  const own = plan.key === undefined ? undefined : compileText(plan.key, provision, anyText)
  const vectorOf = compilePromptVector(like, provision)
  return async (exchange) => {
    if (exchange.method !== "POST") return undefined
    const prompt = await vectorOf(exchange)
    if (prompt === undefined) return undefined
    const { vector } = prompt
    const base = keyOf(plan, space, own, exchange) + prompt.rest
    const near = cache.vectors.nearest(base, vector, like.distance)
    const cached = near === undefined ? undefined : await find(cache, near, exchange)
    const outcome = cached === undefined ? undefined : hit(plan, cached, exchange, provision.clock.now())
    if (outcome !== undefined) return outcome
    if (near !== undefined) cache.vectors.remove(base, near)
    const key = base + createHash("sha256").update(vector).digest("base64url")
    misses.set(exchange, { plan, key, land: undefined, kept: () => cache.vectors.add(base, vector, key) })
    return undefined
  }
}

/** Stores the response when the lookup had no hit. */
export const cacheStore: Policy<"cache-store"> = (plan, provision) => {
  const cache = provision.cache()
  const seconds = compileCount(plan.seconds, provision)
  const storeIf = plan.storeIf === undefined ? undefined : compileFlag(plan.storeIf, provision)
  const keep = (
    exchange: Exchange,
    response: PendingResponse,
    of: Miss,
    forMs: number,
  ): Outcome | Promise<Outcome> => {
    const { status, reason, body } = response
    const coded = response.headers.get("content-encoding") !== undefined
    const headers = keptFields(response.headers, coded)
    const varies = variesBy(response, of.plan)
    const bytes = encodeResponse({ status, reason: reason ?? "", headers, body: body.content })
    const kept = [cache.set(variantKey(of.key, varies, exchange), bytes, forMs)]
    if (varies.length > 0) kept.push(cache.set(of.key, Buffer.from(indexForm + varies.join(",")), forMs))
    tellDownstream(of.plan, response.headers, forMs / 1000)
    const done = () => {
      of.kept?.()
      of.land?.()
      return undefined
    }
    return kept.some((each) => each instanceof Promise) ? Promise.all(kept).then(done) : done()
  }
  return (exchange) => {
    const { response } = exchange
    const of = misses.get(exchange)
    if (response === undefined || of === undefined) return undefined
    const forMs = seconds(exchange) * 1000
    const wanted = storeIf === undefined ? response.status === 200 : storeIf(exchange)
    const method = of.kept === undefined ? "GET" : "POST"
    if (!wanted || forMs === 0 || exchange.method !== method || !mayBeKept(response, provision.clock.now())) {
      of.land?.()
      return undefined
    }
    const loading = exchange.load(responseBody)
    return loading === undefined
      ? keep(exchange, response, of, forMs)
      : loading.then(() => keep(exchange, response, of, forMs))
  }
}

function hasCredentials({ headers, claims }: Exchange): boolean {
  return claims !== undefined || headers.get("authorization") !== undefined
}

/** The key of a response. JSON keeps the parts apart, whatever characters they have. */
function keyOf(
  { varyHeaders, varyQuery }: StepOf<"cache-lookup">,
  space: string,
  own: CompiledText | undefined,
  exchange: Exchange,
): string {
  const { path, authority, headers, query } = exchange
  const parameters =
    varyQuery === null ? query.text : varyQuery.map((name) => [query.count(name), query.get(name) ?? ""])
  const fields = varyHeaders.map((name) => linesUnder(headers, name))
  return JSON.stringify([space, authority.toLowerCase(), path, parameters, fields, own?.of(exchange) ?? null])
}

function linesUnder({ flat }: HeaderList, name: string): readonly string[] {
  const lines: string[] = []
  for (let at = 0; at < flat.length; at += 2) if (flat[at] === name) lines.push(flat[at + 1] as string)
  return lines
}

/** The response under a key; when responses vary by further fields, under the key that includes them. */
function find(
  cache: Cache,
  key: string,
  exchange: Exchange,
): Cached | undefined | Promise<Cached | undefined> {
  const follow = (found: Cached | undefined) => {
    const fields = found === undefined ? undefined : indexOf(found)
    return fields === undefined ? found : cache.get(variantKey(key, fields, exchange))
  }
  const first = cache.get(key)
  return first instanceof Promise ? first.then(follow) : follow(first)
}

function indexOf({ bytes }: Cached): readonly string[] | undefined {
  return bytes[0] === indexForm.charCodeAt(0) ? bytes.toString("latin1", 1).split(",") : undefined
}

function variantKey(key: string, fields: readonly string[], { headers }: Exchange): string {
  return fields.length === 0 ? key : key + JSON.stringify(fields.map((name) => linesUnder(headers, name)))
}

/** Responds from the cache; a matching ETag gets 304. */
function hit(plan: StepOf<"cache-lookup">, cached: Cached, exchange: Exchange, nowMs: number): Outcome {
  const found = decodeResponse(cached.bytes)
  if (found === undefined) return undefined
  const headers = new HeaderList([...found.headers.flat])
  headers.set("age", String(Math.max(0, Math.floor((nowMs - cached.storedAtMs) / 1000))))
  tellDownstream(plan, headers, Math.max(0, Math.floor((cached.expiresAtMs - nowMs) / 1000)))
  const same = found.status === 200 && matches(exchange.headers.get("if-none-match"), headers.get("etag"))
  const reason = found.reason === "" ? undefined : found.reason
  exchange.respondWith(
    same
      ? { status: 304, headers, body: undefined }
      : { status: found.status, reason, headers, body: found.body },
  )
  return { kind: "found" }
}

/** RFC 9110 §13.1.2, weak comparison. */
function matches(field: string | undefined, etag: string | undefined): boolean {
  if (field === undefined || etag === undefined) return false
  const plain = (tag: string) => tag.trim().replace(/^W\//, "")
  return field.trim() === "*" || field.split(",").some((each) => plain(each) === plain(etag))
}

/** Remembers the key to store the response under. With `coalesce` it first waits for the response that another exchange is about to store. */
function miss(
  plan: StepOf<"cache-lookup">,
  cache: Cache,
  key: string,
  exchange: Exchange,
  settle: (cached: Cached | undefined) => Outcome,
): Outcome | Promise<Outcome> {
  const boarding: Boarding | undefined =
    plan.coalesce === true ? cache.flights.board(key, coalesceMs) : undefined
  if (boarding === undefined || boarding.leads) {
    if (boarding !== undefined) exchange.whenOver(boarding.land)
    misses.set(exchange, { plan, key, land: boarding?.land })
    return undefined
  }
  return boarding.landed
    .then(() => find(cache, key, exchange))
    .then((found) => {
      const outcome = settle(found)
      if (outcome === undefined) misses.set(exchange, { plan, key, land: undefined })
      return outcome
    })
}

/**
 * The backend decides whether a response may be stored: not a private one, one with `no-store`, or one that is already stale (RFC 9111 §3, §4.2,
 * §5.2.2). The configuration decides for how long. Partial responses are not stored.
 */
function mayBeKept({ status, headers }: PendingResponse, nowMs: number): boolean {
  if (status === 206 || status === 304 || headers.get("set-cookie") !== undefined) return false
  const control = linesUnder(headers, "cache-control").join(",")
  if (/\b(?:no-store|private|no-cache)\b/i.test(control) || headers.get("vary")?.trim() === "*") return false
  const shared = lifetimeOf(control, "s-maxage") ?? lifetimeOf(control, "max-age")
  if (shared !== undefined) return shared > 0
  const expires = headers.get("expires")
  const date = headers.get("date")
  // An invalid date means that the response has expired (RFC 9111 §5.3).
  return expires === undefined || Date.parse(expires) > (date === undefined ? nowMs : Date.parse(date))
}

/** The seconds of a directive; an invalid number means that the response is stale (RFC 9111 §4.2.1). */
function lifetimeOf(control: string, directive: string): number | undefined {
  const [, value] = new RegExp(`(?:^|[,\\s])${directive}\\s*=\\s*"?([^",\\s]*)`, "i").exec(control) ?? []
  return value === undefined ? undefined : /^\d+$/.test(value) ? Number(value) : 0
}

/** Fields by which the response varies and that are not in the key. Accept-Encoding is ignored, because content is stored decoded. */
function variesBy({ headers }: PendingResponse, plan: StepOf<"cache-lookup">): string[] {
  const named = linesUnder(headers, "vary")
    .flatMap((line) => line.toLowerCase().split(","))
    .map((name) => name.trim())
  return [...new Set(named)]
    .filter((name) => name !== "" && name !== "accept-encoding" && !plan.varyHeaders.includes(name))
    .sort()
}

/** Removes fields that describe only this transfer. Decoded content needs another strong validator, so that of encoded content is removed, too. */
function keptFields({ flat }: HeaderList, coded: boolean): HeaderList {
  const kept: string[] = []
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at] as string
    if (name === "content-length" || name === "content-encoding" || name === "age") continue
    if (coded && name === "etag" && !(flat[at + 1] as string).startsWith("W/")) continue
    kept.push(name, flat[at + 1] as string)
  }
  return new HeaderList(kept)
}

/** What caches between the gateway and the caller may do. */
function tellDownstream(
  { downstream, mustRevalidate }: StepOf<"cache-lookup">,
  headers: HeaderList,
  seconds: number,
): void {
  if (downstream === "none") return
  headers.set(
    "cache-control",
    `${downstream}, max-age=${seconds}${mustRevalidate ? ", must-revalidate" : ""}`,
  )
}
