/**
 * A policy decision point with AuthZEN's Authorization API 1.0. Start with `DecisionPoint.ask`: it takes questions and returns decisions in the same
 * order, or rejects with `NoDecision`. Only a JSON boolean in the right place is a decision.
 */

import { hash } from "node:crypto"
import { LRUCache } from "lru-cache"
import type { OutgoingRequest, RequestSender } from "../http/client/http-client.ts"
import { NoToken, type TokenSource } from "../identity/token-client.ts"
import { canonicalJson } from "../plan/canonical.ts"
import { DiscoveredEndpoints, type EndpointUrls, endpointsBelow } from "./endpoints.ts"
import { jsonOf, NoDecision } from "./http.ts"
import { isIll, outcomeOf, type PdpNotes, type PdpRequested, type PdpState, Standing } from "./standing.ts"
import { type AccessEvaluation, decisionOf, decisionsOf, type PdpDecision } from "./wire.ts"

/** A decision point of the plan with its texts resolved. */
export interface PdpSettings {
  readonly name: string
  readonly url: string
  readonly discover: boolean
  /** For one request, including a retry on a new connection or with a new token. */
  readonly timeoutMs: number
  /** 0: decisions are not cached. */
  readonly cacheMs: number
  /** Evaluations in one request. */
  readonly batchMax: number
  readonly trust: OutgoingRequest["trust"]
  readonly certificate: OutgoingRequest["certificate"]
  /** The value of Authorization, or its source. */
  readonly authorization: string | TokenSource | undefined
}

/** Circuit breaker: keeps requests from a decision point that fails. */
export interface PdpBreaker {
  allows(nowMs: number): boolean
  remainingMs(nowMs: number): number
  /** Whether this request is a trial of the breaker; pass the result to `succeeded` or `failed`. */
  begin(nowMs: number): boolean
  succeeded(nowMs: number, isTrial: boolean): void
  failed(nowMs: number, isTrial: boolean): void
  abandon(isTrial: boolean): void
  /** Whether a response with this status is a failure. */
  counts(status: number): boolean
  state(nowMs: number): Exclude<PdpState["breaker"], "none">
}

/** The request for which a decision is needed. */
export interface Asker {
  /** Sent as X-Request-ID. */
  readonly requestId: string
  /** Aborts the requests when the caller no longer waits. */
  readonly signal?: AbortSignal | undefined
}

const responseBytesMax = 4 * 1024 * 1024
/** Concurrent requests for one list of questions. */
const requestsAtOnce = 4

const keptMax = 10_000

/** Sends questions to a decision point. The given port owns the connections. */
export class DecisionPoint {
  readonly #settings: PdpSettings
  readonly #http: RequestSender
  readonly #breaker: PdpBreaker | undefined
  readonly #monotonic: () => number
  readonly #notes: PdpNotes | undefined
  readonly #standing = new Standing()
  readonly #kept: DecisionCache
  readonly #endpoints: { get(): EndpointUrls | Promise<EndpointUrls> }

  constructor(
    settings: PdpSettings,
    http: RequestSender,
    breaker: PdpBreaker | undefined,
    notes?: PdpNotes,
    monotonic: () => number = () => performance.now(),
  ) {
    this.#settings = settings
    this.#http = http
    this.#breaker = breaker
    this.#notes = notes
    this.#monotonic = monotonic
    this.#kept = new DecisionCache(settings.cacheMs, monotonic)
    const below = endpointsBelow(settings.url)
    this.#endpoints = settings.discover
      ? new DiscoveredEndpoints(settings.url, http, termsOf(settings), monotonic)
      : { get: () => below }
  }

  /** The decisions in the order of the questions. Rejects with NoDecision if one of them has no decision. */
  async ask(evaluations: readonly AccessEvaluation[], asker: Asker): Promise<PdpDecision[]> {
    const decisions = evaluations.map((each) => this.#kept.get(each))
    for (const decision of decisions) if (decision !== undefined) this.#tell(decision, "kept")
    const open = decisions.flatMap((decision, at) => (decision === undefined ? [at] : []))
    if (open.length === 0) return decisions.filter((each) => each !== undefined)
    try {
      const askedAtMs = this.#monotonic()
      const asked = open.map((at) => evaluations[at] as AccessEvaluation)
      const answers = await this.#askAll(asked, asker)
      this.#standing.succeeded(this.#monotonic())
      open.forEach((at, index) => {
        const decision = answers[index] as PdpDecision
        decisions[at] = decision
        this.#kept.keep(asked[index] as AccessEvaluation, decision, askedAtMs)
        this.#tell(decision, "asked")
      })
      return decisions.filter((each) => each !== undefined)
    } catch (error) {
      if (asker.signal?.aborted !== true) {
        this.#standing.failed(this.#monotonic(), error, messageOf(error))
        for (const _ of open) this.#tell(undefined, "asked")
      }
      throw this.#named(error)
    }
  }

  /** The state for operators. */
  state(): PdpState {
    const now = this.#monotonic()
    const breaker = this.#breaker?.state(now) ?? "none"
    return { origin: this.#settings.url, breaker, ...this.#standing.state(now) }
  }

  #tell(found: PdpDecision | undefined, from: "asked" | "kept"): void {
    const decision = found?.allowed === true ? "allowed" : found?.failed === true ? "undecided" : "denied"
    this.#notes?.decided({
      pdp: this.#settings.name,
      decision: found === undefined ? "none" : decision,
      from,
    })
  }

  async #askAll(evaluations: readonly AccessEvaluation[], asker: Asker): Promise<PdpDecision[]> {
    this.#refuseWhileOpen()
    const urls = await this.#endpoints.get()
    const size = urls.evaluations === undefined ? 1 : this.#settings.batchMax
    const chunks: AccessEvaluation[][] = []
    for (let at = 0; at < evaluations.length; at += size) chunks.push(evaluations.slice(at, at + size))
    const ending = new AbortController()
    const signal = asker.signal === undefined ? ending.signal : AbortSignal.any([asker.signal, ending.signal])
    const answers: PdpDecision[][] = chunks.map(() => [])
    let next = 0
    const work = async (): Promise<void> => {
      while (next < chunks.length && !signal.aborted) {
        const at = next++
        answers[at] = await this.#askChunk(chunks[at] as AccessEvaluation[], urls, { ...asker, signal })
      }
    }
    try {
      await Promise.all(Array.from({ length: Math.min(requestsAtOnce, chunks.length) }, work))
    } catch (error) {
      ending.abort()
      throw error
    }
    const all = answers.flat()
    if (all.length !== evaluations.length)
      throw new NoDecision("the client no longer waits for it", { fault: false })
    return all
  }

  async #askChunk(
    chunk: readonly AccessEvaluation[],
    urls: EndpointUrls,
    asker: Asker,
  ): Promise<PdpDecision[]> {
    const [only] = chunk
    const alone = chunk.length === 1
    const url = alone ? urls.evaluation : (urls.evaluations ?? urls.evaluation)
    return this.#guarded(async () => {
      const body = await this.#post(url, alone ? only : { evaluations: chunk }, asker)
      const json = jsonOf(body)
      const first = alone ? decisionOf(json) : undefined
      const found = alone ? (first === undefined ? undefined : [first]) : decisionsOf(json, chunk.length)
      if (found === undefined)
        throw new NoDecision(
          alone
            ? "its response contains no decision"
            : `its response does not contain ${chunk.length} decisions`,
        )
      return found
    }, asker.signal)
  }

  /** The body of a response with status 200. */
  async #post(url: string, body: unknown, { requestId, signal }: Asker): Promise<Buffer> {
    const { timeoutMs, authorization } = this.#settings
    const content = Buffer.from(JSON.stringify(body))
    const deadlineMs = this.#monotonic() + timeoutMs
    const send = async (): Promise<{ status: number; body: Buffer; token: string | undefined }> => {
      const value = typeof authorization === "object" ? await authorization.token() : undefined
      const shown = value === undefined ? authorization : `Bearer ${value}`
      const headers = ["accept", "application/json", "content-type", "application/json"]
      headers.push("x-request-id", requestId)
      if (typeof shown === "string") headers.push("authorization", shown)
      const remainingMs = deadlineMs - this.#monotonic()
      if (remainingMs < 1) throw Object.assign(new NoDecision("no response in time"), { reason: "timeout" })
      const request = { ...termsOf(this.#settings), timeoutMs: Math.ceil(remainingMs) }
      const answer = await this.#http.send({
        ...{ ...request, url, method: "POST", headers, body: content, responseBytesMax },
        ...(signal === undefined ? {} : { signal }),
      })
      return { status: answer.status, body: answer.body, token: value }
    }
    let answer = await send().catch((error: unknown) => {
      // The server may have closed the kept connection just when it was used. Repeating a question is safe.
      if ((error as { reason?: unknown }).reason !== "unreachable" || signal?.aborted === true) throw error
      return send()
    })
    if (answer.status === 401 && answer.token !== undefined && typeof authorization === "object")
      if (authorization.renew(answer.token)) answer = await send()
    if (answer.status === 200) return answer.body
    const fault = this.#breaker?.counts(answer.status) ?? true
    throw new NoDecision(`it responds with ${answer.status}`, { fault, ill: isIll(answer.status) })
  }

  async #guarded<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const breaker = this.#breaker
    this.#refuseWhileOpen()
    const begunAtMs = this.#monotonic()
    const isTrial = breaker?.begin(begunAtMs) === true
    this.#standing.outstanding += 1
    let outcome: PdpRequested["outcome"] = "answered"
    try {
      const result = await work()
      breaker?.succeeded(this.#monotonic(), isTrial)
      return result
    } catch (error) {
      outcome = outcomeOf(error, signal?.aborted === true)
      if (outcome === "cancelled") breaker?.abandon(isTrial)
      else if (outcome === "refused") breaker?.succeeded(this.#monotonic(), isTrial)
      else breaker?.failed(this.#monotonic(), isTrial)
      throw error
    } finally {
      this.#standing.outstanding -= 1
      this.#notes?.requested({ pdp: this.#settings.name, outcome, ms: this.#monotonic() - begunAtMs })
    }
  }

  #refuseWhileOpen(): void {
    const now = this.#monotonic()
    if (this.#breaker === undefined || this.#breaker.allows(now)) return
    const retryAfterSeconds = Math.max(1, Math.ceil(this.#breaker.remainingMs(now) / 1000))
    throw new NoDecision("its breaker is open", { fault: false, retryAfterSeconds })
  }

  #named(error: unknown): NoDecision {
    const retryAfterSeconds = error instanceof NoDecision ? error.retryAfterSeconds : 1
    return new NoDecision(`decision point \`${this.#settings.name}\`: ${messageOf(error)}`, {
      retryAfterSeconds,
    })
  }
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return error instanceof NoToken ? `the gateway's token for it: ${message}` : message
}

function termsOf({
  timeoutMs,
  trust,
  certificate,
}: PdpSettings): Pick<OutgoingRequest, "timeoutMs" | "trust" | "certificate"> {
  return {
    timeoutMs,
    ...(trust === undefined ? {} : { trust }),
    ...(certificate === undefined ? {} : { certificate }),
  }
}

/** Cache of decisions by the complete question. Keys are digests: a heap dump contains no questions. */
class DecisionCache {
  readonly #keptMs: number
  readonly #monotonic: () => number
  // `maxSize` with size 1 limits the number of entries; `max` would reserve 200 KiB for an empty cache.
  readonly #entries = new LRUCache<string, { readonly decision: PdpDecision; readonly untilMs: number }>({
    maxSize: keptMax,
    sizeCalculation: () => 1,
  })

  /** `keptMs` 0: nothing is cached. */
  constructor(keptMs: number, monotonic: () => number) {
    this.#keptMs = keptMs
    this.#monotonic = monotonic
  }

  get(evaluation: AccessEvaluation): PdpDecision | undefined {
    if (this.#keptMs === 0) return undefined
    const key = keyOf(evaluation)
    const found = this.#entries.get(key)
    if (found === undefined || this.#monotonic() < found.untilMs) return found?.decision
    this.#entries.delete(key)
    return undefined
  }

  /** `askedAtMs`: the lifetime of a decision starts with the request, which can be long before the response. */
  keep(evaluation: AccessEvaluation, decision: PdpDecision, askedAtMs: number): void {
    if (this.#keptMs === 0 || decision.failed === true) return
    this.#entries.set(keyOf(evaluation), { decision, untilMs: askedAtMs + this.#keptMs })
  }
}

function keyOf(evaluation: AccessEvaluation): string {
  return hash("sha256", canonicalJson(evaluation), "base64")
}
