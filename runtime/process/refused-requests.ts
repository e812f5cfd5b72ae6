import { LRUCache } from "lru-cache"
import { explanationText } from "../check/explain-text.ts"
import type { CheckAnswer, CheckRequest, Commit } from "../check/ports.ts"
import type { RefusalAnswer, RefusedRequest } from "../control/api.ts"
import type { Finished, Observer } from "../gateway/observer.ts"

const keptMax = 1_000
const textMax = 500

/** A refusal, and the store's commit at which the engine denied it. */
interface Kept {
  readonly refusal: RefusedRequest
  readonly at: Commit | undefined
}

type Ask = (store: string, request: CheckRequest) => CheckAnswer | Promise<CheckAnswer>

/** Remembers the last 1,000 refused requests by their ids: names, places and decisions, but no headers, queries or bodies. */
export class RefusedRequests implements Observer {
  readonly #ask: Ask
  readonly #kept = new LRUCache<string, Kept>({ max: keptMax })

  constructor(ask: Ask) {
    this.#ask = ask
  }

  finished(exchange: Finished): void {
    const { problem, status, answeredBy } = exchange
    if (problem === undefined && (status < 400 || answeredBy === undefined)) return
    // A trusted proxy may send an id twice: the last request replaces the first and counts as the newest.
    this.#kept.set(exchange.id, keptOf(exchange))
  }

  /** Undefined: this process does not remember such a request. */
  async find(id: string): Promise<RefusalAnswer | undefined> {
    const kept = this.#kept.peek(id)
    if (kept === undefined) return undefined
    const { refusal, at } = kept
    const proof = refusal.decision === undefined ? undefined : await this.#prove(refusal.decision, at)
    return proof === undefined ? { refusal } : { refusal, proof }
  }

  /** Explains a denial at the revision of the request, and at the present one if that is gone. */
  async #prove(
    decision: NonNullable<RefusedRequest["decision"]>,
    at: Commit | undefined,
  ): Promise<RefusalAnswer["proof"]> {
    const { store, user, relation, object, allowed } = decision
    if (allowed || at === undefined || store === undefined) return undefined
    const question = { user, relation, object, explain: true, ternary: true }
    for (const then of [true, false]) {
      try {
        const answer = await this.#ask(store, then ? { ...question, exactly: at } : question)
        if (answer.explanation === undefined) return undefined
        const text = explanationText(answer.explanation)
        return { atRefusal: then, allowed: answer.allowed, revision: answer.revision, text }
      } catch {
        // When the past revision is gone, explain at the current one. When the engine does not answer, omit the proof.
      }
    }
    return undefined
  }
}

function keptOf(exchange: Finished): Kept {
  const { revision, stamp } = exchange.decision ?? {}
  const at = revision === undefined || stamp === undefined ? undefined : { revision, stamp }
  return { refusal: refusalOf(exchange), at }
}

/** What is kept of a refused request. Long texts are cut. */
function refusalOf(exchange: Finished): RefusedRequest {
  const { id, startedAtMs, method, path, status, problem, cause, decision, answeredBy } = exchange
  const { route, api, version, operation, user, subscription, product, backend } = exchange
  const names = { problem, route, api, version, operation, user, subscription, product, backend }
  return {
    ...{ id, at: new Date(startedAtMs).toISOString(), method, path: path.slice(0, textMax), status },
    ...said({ ...names, cause: cause?.slice(0, textMax) }),
    ...(answeredBy === undefined ? {} : { answeredBy: { ...answeredBy } }),
    ...(decision === undefined ? {} : { decision: withoutAbsent(decision) }),
  }
}

/** Removes undefined fields, which JSON does not have. */
function withoutAbsent(decision: NonNullable<Finished["decision"]>): NonNullable<RefusedRequest["decision"]> {
  const { store, pdp, revision, stamp: _, reason, ...asked } = decision
  return {
    ...(store === undefined ? {} : { store }),
    ...(pdp === undefined ? {} : { pdp }),
    ...asked,
    ...(revision === undefined ? {} : { revision }),
    ...(reason === undefined ? {} : { reason }),
  }
}

/** Removes undefined fields. */
function said(fields: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value.slice(0, textMax)] as const],
    ),
  )
}
