import type { DatabaseState } from "./database.ts"
import type { ServerTupleSource } from "./tuple-source.ts"

/** A server that follows the primary. */
export interface ReplicaServer {
  /** `host:port`, for messages. */
  readonly name: string
  readonly source: ServerTupleSource
  readonly connections: () => DatabaseState["connections"]
}

/**
 * A replica now. `reading`: it is read. `behind`: it lacks commits of a store, and is read only where it has enough. `refused`: it belongs to
 * another history. `unavailable`: it failed, and is tried again soon.
 */
export interface ReplicaState {
  readonly server: string
  readonly state: "reading" | "behind" | "refused" | "unavailable"
  /** Why it is not read; undefined while it is. */
  readonly reason: string | undefined
  /** How long it has not been read, or was behind, in milliseconds. */
  readonly forMs: number
  /** The most revisions that it lacks of one store. */
  readonly revisionsBehind: number
  readonly connections: DatabaseState["connections"]
}

/** How long a replica rests after a failure, in milliseconds; twice as long after each further one. */
const firstRestMs = 1_000
const longestRestMs = 30_000
/** Stores whose commits are remembered. */
const storesMax = 10_000

/** The replica has a commit that the primary does not have. */
export class OtherHistory extends Error {
  constructor(server: string, storeId: string, revision: number) {
    super(
      `${server} belongs to another history than the primary (revision ${revision} of store ${storeId} is another commit there): make it a replica of this primary again, or remove it from SALLYPORT_DATABASE_REPLICA_URL`,
    )
  }
}

/** What a replica lacks of a store. */
interface Lag {
  readonly has: number
  readonly newest: number
  readonly sinceMs: number
}

/** What is known about a replica: whether it may be read, and up to which commits. */
export class Replica {
  readonly name: string
  readonly source: ServerTupleSource
  readonly #server: ReplicaServer
  /** By store; none where it has the newest commit. */
  readonly #lags = new Map<string, Lag>()
  readonly #looks = new Map<string, number>()
  #isLooking = false
  #fault: Error | undefined
  #faultSinceMs = 0
  #restUntilMs = 0
  #failures = 0

  constructor(server: ReplicaServer) {
    this.name = server.name
    this.source = server.source
    this.#server = server
  }

  /** Why it is not read. */
  get fault(): Error | undefined {
    return this.#fault
  }

  get state(): ReplicaState {
    const nowMs = performance.now()
    const lags = [...this.#lags.values()]
    const revisionsBehind = Math.max(0, ...lags.map(({ has, newest }) => newest - has))
    const of = { server: this.name, revisionsBehind, connections: this.#server.connections() }
    const fault = this.#fault
    if (fault !== undefined) {
      const state = fault instanceof OtherHistory ? "refused" : "unavailable"
      return { ...of, state, reason: fault.message, forMs: nowMs - this.#faultSinceMs }
    }
    if (lags.length === 0) return { ...of, state: "reading", reason: undefined, forMs: 0 }
    const sinceMs = Math.min(...lags.map((lag) => lag.sinceMs))
    const reason = `it lacks up to ${revisionsBehind} revisions (number of stores: ${lags.length})`
    return { ...of, state: "behind", reason, forMs: nowMs - sinceMs }
  }

  /** Whether a reading that needs the revision may be sent to it. */
  mayHave(storeId: string, revision: number): boolean {
    const lag = this.#lags.get(storeId)
    return this.#fault === undefined && (lag === undefined || lag.has >= revision)
  }

  /** Whether it has lacked commits of the store, for less than `withinMs`. */
  isLate(storeId: string, withinMs: number): boolean {
    const lag = this.#lags.get(storeId)
    return this.#fault === undefined && lag !== undefined && performance.now() - lag.sinceMs < withinMs
  }

  /** It has this revision of a store, and the primary has `newest`. */
  shows(storeId: string, has: number, newest: number): void {
    const lag = this.#lags.get(storeId)
    if (has >= newest) this.#lags.delete(storeId)
    else {
      const sinceMs = lag?.sinceMs ?? performance.now()
      this.#lags.set(storeId, { has: Math.max(has, lag?.has ?? 0), newest, sinceMs })
      forgetOldest(this.#lags)
    }
  }

  /** One look at a time, none while it rests. */
  startLook(storeId: string, everyMs: number): boolean {
    const nowMs = performance.now()
    const lastMs = this.#looks.get(storeId) ?? Number.NEGATIVE_INFINITY
    if (this.#isLooking || nowMs < this.#restUntilMs || nowMs - lastMs < everyMs) return false
    this.#isLooking = true
    this.#looks.set(storeId, nowMs)
    forgetOldest(this.#looks)
    return true
  }

  endLook(): void {
    this.#isLooking = false
  }

  /** A look went well: it may be read again. */
  isWell(): void {
    this.#fault = undefined
  }

  hasRead(): void {
    this.#failures = 0
  }

  /** Returns whether it was well before. */
  fails(error: Error): boolean {
    const nowMs = performance.now()
    const wasWell = this.#fault === undefined
    if (wasWell) this.#faultSinceMs = nowMs
    this.#fault = error
    // Other stores of such a server may be the same as on the primary: their looks must not make it well at once, again and again.
    const restMs = error instanceof OtherHistory ? longestRestMs : firstRestMs * 2 ** this.#failures
    this.#restUntilMs = nowMs + Math.min(restMs, longestRestMs)
    this.#failures += 1
    return wasWell
  }
}

/** Keeps the stores that were added last. */
export function forgetOldest(stores: Map<string, unknown>): void {
  for (const storeId of stores.keys()) {
    if (stores.size <= storesMax) return
    stores.delete(storeId)
  }
}
