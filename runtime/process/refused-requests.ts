import { LRUCache } from "lru-cache"
import { explanationText } from "../check/explain-text.ts"
import type { CheckAnswer, CheckRequest, Commit } from "../check/ports.ts"
import type { RefusalAnswer, RefusedRequest } from "../control/api.ts"
import type { Finished, Observer } from "../gateway/observer.ts"
import type { Database } from "../store/database.ts"
import { addRefusals, findRefusal, forgetRefusals } from "../store/refusals.ts"

const keptMax = 1_000
const textMax = 500
const writeEveryMs = 1_000
/** A flood of refusals writes at most so many rows at once, and so many more with each write; the rest stays in this process. */
const writtenMax = 500
const writtenPerTurn = 10
/** Writes between two deletions of old rows. */
const turnsPerForgetting = 15

/** A refusal, and the store's commit at which the engine denied it. */
interface Kept {
  readonly refusal: RefusedRequest
  readonly at?: Commit | undefined
}

type Ask = (store: string, request: CheckRequest) => CheckAnswer | Promise<CheckAnswer>

/**
 * Remembers the last 1,000 refused requests of this process by their ids, and for an hour in the database, where every process finds them: names, places
 * and decisions, but no headers, queries or bodies. The embedded database belongs to one process, so nothing is written there.
 */
export class RefusedRequests implements Observer {
  readonly #ask: Ask
  readonly #database: Database | undefined
  readonly #kept = new LRUCache<string, Kept>({ max: keptMax })
  /** Ids to write. */
  readonly #unwritten = new Set<string>()
  /** Rows that may be written now. */
  #budget = writtenMax
  #turns = 0
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined

  constructor(ask: Ask, database: Database) {
    this.#ask = ask
    this.#database = database.kind === "embedded" ? undefined : database
    if (this.#database === undefined) return
    this.#timer = setInterval(() => {
      this.#budget = Math.min(writtenMax, this.#budget + writtenPerTurn)
      void this.flush()
    }, writeEveryMs)
    this.#timer.unref()
  }

  finished(exchange: Finished): void {
    const { problem, status, answeredBy } = exchange
    if (problem === undefined && (status < 400 || answeredBy === undefined)) return
    // A trusted proxy may send an id twice: the last request replaces the first and counts as the newest.
    this.#kept.set(exchange.id, keptOf(exchange))
    if (this.#database !== undefined && this.#unwritten.size < this.#budget) this.#unwritten.add(exchange.id)
  }

  /** Those that this process remembers, newest first. */
  recent(): RefusedRequest[] {
    return [...this.#kept.values()].map(({ refusal }) => refusal)
  }

  /** Writes what is not in the database yet. Without the database it is given up: operators still have the log. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write()).catch(() => undefined)
    return this.#writing
  }

  async #write(): Promise<void> {
    const database = this.#database
    if (database === undefined) return
    const rows = [...this.#unwritten].flatMap((id) => {
      const kept = this.#kept.peek(id)
      return kept === undefined
        ? []
        : [{ id, json: JSON.stringify(kept), subscription: kept.refusal.subscription ?? "" }]
    })
    this.#unwritten.clear()
    this.#budget -= rows.length
    if (rows.length > 0) await addRefusals(database, rows)
    this.#turns += 1
    if (this.#turns % turnsPerForgetting === 0) await forgetRefusals(database)
  }

  /** Writes what is left. Call it when no request is in progress any more. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }

  /**
   * Undefined: no process remembers such a request.
   * @throws Unavailable when this process does not remember it and the database is unavailable
   */
  async find(id: string): Promise<RefusalAnswer | undefined> {
    const kept = this.#kept.peek(id) ?? (await this.#read(id))
    if (kept === undefined) return undefined
    const { refusal, at } = kept
    const proof = refusal.decision === undefined ? undefined : await this.#prove(refusal.decision, at)
    return proof === undefined ? { refusal } : { refusal, proof }
  }

  async #read(id: string): Promise<Kept | undefined> {
    const json = this.#database === undefined ? undefined : await findRefusal(this.#database, id)
    return json === undefined ? undefined : (JSON.parse(json) as Kept)
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
