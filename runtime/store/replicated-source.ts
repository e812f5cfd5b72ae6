import { setTimeout as sleep } from "node:timers/promises"
import {
  type Commit,
  HistoryLost,
  isSameCommit,
  type LoadedBatch,
  type PageBatch,
  type PageKey,
  type PartKey,
  type ReadTerms,
  SourceUnavailable,
  StoreGone,
  type TupleChange,
  type TupleRow,
  type TupleSource,
} from "../check/ports.ts"
import { forgetOldest, OtherHistory, Replica, type ReplicaServer, type ReplicaState } from "./replica.ts"
import type { ServerTupleSource } from "./tuple-source.ts"

/** How a reading ended: by the replica; by the primary, because the replica lacked a commit, was of another history or failed. */
export type ReadOutcome = "read" | "behind" | "refused" | "failed"

/** All but the servers is optional. */
export interface ReplicatedOptions {
  readonly primary: ServerTupleSource
  readonly replicas: readonly ReplicaServer[]
  /** Called for each reading that was sent to a replica; `server` is its name. */
  readonly onRead?: ((server: string, outcome: ReadOutcome) => void) | undefined
  /** Called for each reading that the primary carried out. */
  readonly onPrimaryRead?: (() => void) | undefined
  /** Called when a replica is refused or fails, and is not read from now on. */
  readonly onFault?: ((error: Error) => void) | undefined
}

/** A replica is looked at this often for each store whose newest commit the primary is asked for, in milliseconds. */
const lookMs = 500
/** The same while a reading waits for its commits. */
const lookWantedMs = 20
/** A commit that a replica has and the primary does not show yet is asked for this many times, with pauses. */
const aheadAttempts = 5
/** A reading of a whole store waits this long for a replica that lacks the newest commits. */
const waitMs = 1_000

/**
 * Tuples that are read from replicas of a primary. The primary alone says which commits there are: `newest` and stamps are its own, and each
 * commit that a replica's rows belong to must be one that the primary has named. A replica that lacks the revision a reading needs is
 * not asked for it. When a replica cannot be used, the primary is read.
 */
export class ReplicatedSource implements TupleSource {
  readonly #options: ReplicatedOptions
  readonly #replicas: readonly Replica[]
  /** The newest commit of each store that the primary named, with the number of that request: an overtaken response does not count. */
  readonly #named = new Map<string, Commit & { readonly asked: number }>()
  /** Number of requests to the primary. */
  #asked = 0
  #turn = 0

  constructor(options: ReplicatedOptions) {
    this.#options = options
    this.#replicas = options.replicas.map((server) => new Replica(server))
  }

  get replicas(): readonly ReplicaState[] {
    return this.#replicas.map((replica) => replica.state)
  }

  async newest(storeId: string): Promise<Commit> {
    const asked = ++this.#asked
    const newest = await this.#options.primary.newest(storeId)
    this.#name(storeId, newest, asked)
    for (const replica of this.#replicas) void this.#look(replica, storeId, lookMs)
    return newest
  }

  stampOf(storeId: string, revision: number): Promise<string | undefined> {
    return this.#options.primary.stampOf(storeId, revision)
  }

  listen(onChanged: (storeId: string) => void): () => void {
    return this.#options.primary.listen(onChanged)
  }

  /** The primary keeps what a replica may have pruned, and is asked for a few rows only. */
  stood(storeId: string, revision: number, keys: readonly TupleRow[]): Promise<readonly TupleRow[]> {
    return this.#options.primary.stood(storeId, revision, keys)
  }

  async pages(storeId: string, keys: readonly PageKey[], terms: ReadTerms = {}): Promise<PageBatch> {
    const { revisionMin = (await this.newest(storeId)).revision } = terms
    const read = this.#read(storeId, this.#next(storeId, revisionMin), async (replica) => {
      const batch = await replica.source.pages(storeId, keys)
      await this.#accept(replica, storeId, batch.at, revisionMin)
      return batch
    })
    return (await read) ?? this.#options.primary.pages(storeId, keys, terms)
  }

  async changes(storeId: string, after: Commit, max: number): Promise<readonly TupleChange[]> {
    const revisionMin = after.revision + 1
    const read = this.#read(storeId, this.#next(storeId, revisionMin), async (replica) => {
      const changes = await replica.source.changes(storeId, after, max)
      await this.#accept(replica, storeId, changes.at(-1) ?? after, revisionMin)
      return changes
    })
    return (await read) ?? this.#options.primary.changes(storeId, after, max)
  }

  async load(storeId: string, onBatch: LoadedBatch, terms: ReadTerms = {}): Promise<Commit> {
    const { revision } = await this.newest(storeId)
    const replica = await this.#caughtUp(storeId, revision)
    return this.#stream(replica, { storeId, revisionMin: revision, onBatch, terms }, (source, take, more) =>
      source.load(storeId, take, more),
    )
  }

  async list(
    storeId: string,
    key: PartKey,
    onBatch: (rows: readonly TupleRow[]) => void,
    terms: ReadTerms = {},
  ): Promise<Commit> {
    const { revisionMin = (await this.newest(storeId)).revision } = terms
    const replica = this.#next(storeId, revisionMin)
    return this.#stream(replica, { storeId, revisionMin, onBatch, terms }, (source, take, more) =>
      source.list(storeId, key, take, more),
    )
  }

  /** Reads from the replica; when that ends in the middle, the reading starts again on the primary. */
  async #stream<Batch extends unknown[]>(
    replica: Replica | undefined,
    { storeId, revisionMin, onBatch, terms }: Stream<Batch>,
    read: (source: ServerTupleSource, onBatch: OnBatch<Batch>, terms: BatchTerms) => Promise<Commit>,
  ): Promise<Commit> {
    let isBegun = false
    const take: OnBatch<Batch> = (...batch) => {
      isBegun = true
      return notOfReplica(() => onBatch(...batch))
    }
    const found = await this.#read(storeId, replica, (from) => {
      const onCommit = (at: Commit) => this.#accept(from, storeId, at, revisionMin)
      return read(from.source, take, { onCommit })
    })
    if (found !== undefined) return found
    if (isBegun) {
      if (terms.onRestart === undefined)
        throw new SourceUnavailable("a replica ended a reading before its last row")
      terms.onRestart()
    }
    return read(this.#options.primary, onBatch, terms)
  }

  /** Undefined: the primary has to be read. Rejects with the errors that are not the replica's. */
  async #read<T>(
    storeId: string,
    replica: Replica | undefined,
    read: (replica: Replica) => Promise<T>,
  ): Promise<T | undefined> {
    const { onRead, onPrimaryRead } = this.#options
    if (replica !== undefined)
      try {
        const result = await read(replica)
        replica.hasRead()
        onRead?.(replica.name, "read")
        return result
      } catch (error) {
        if (error instanceof NotOfReplica) throw error.cause
        onRead?.(replica.name, this.#failed(replica, storeId, error))
      }
    onPrimaryRead?.()
    return undefined
  }

  /** One replica after the other, of those that may have the revision. */
  #next(storeId: string, revisionMin: number): Replica | undefined {
    const usable = this.#replicas.filter((replica) => replica.mayHave(storeId, revisionMin))
    if (usable.length < this.#replicas.length)
      for (const replica of this.#replicas) void this.#look(replica, storeId, lookWantedMs)
    return usable[this.#turn++ % usable.length]
  }

  /** Waits for one that has the revision, unless all have lacked commits for longer than that. */
  async #caughtUp(storeId: string, revision: number): Promise<Replica | undefined> {
    for (;;) {
      const replica = this.#next(storeId, revision)
      if (replica !== undefined || !this.#replicas.some((each) => each.isLate(storeId, waitMs)))
        return replica
      await sleep(lookWantedMs)
    }
  }

  /** Asks a replica for its newest commit, at most once in `everyMs`. Never rejects. */
  async #look(replica: Replica, storeId: string, everyMs: number): Promise<void> {
    if (!replica.startLook(storeId, everyMs)) return
    try {
      const at = await replica.source.newest(storeId)
      await this.#accept(replica, storeId, at, 0)
      replica.isWell()
    } catch (error) {
      if (!(error instanceof NotOfReplica)) this.#failed(replica, storeId, error)
    } finally {
      replica.endLook()
    }
  }

  /**
   * Requires that rows of a replica are new enough, and of the primary's history.
   * @throws Behind · OtherHistory · NotOfReplica when the primary fails
   */
  async #accept(replica: Replica, storeId: string, at: Commit, revisionMin: number): Promise<void> {
    const named = this.#named.get(storeId)
    const newest = Math.max(named?.revision ?? 0, revisionMin)
    replica.shows(storeId, at.revision, newest)
    if (at.revision < revisionMin) throw new Behind()
    if (named !== undefined && isSameCommit(named, at)) return
    const asked = ++this.#asked
    const stamp = await this.#stampOnPrimary(storeId, at.revision)
    if (stamp === at.stamp) {
      if (at.revision > (named?.revision ?? -1)) this.#name(storeId, at, asked)
      return
    }
    // An old one that the primary has pruned proves nothing.
    if (stamp === undefined && at.revision <= newest) throw new Behind()
    throw new OtherHistory(replica.name, storeId, at.revision)
  }

  /** With synchronous replication the primary shows a commit a moment after its replica. */
  async #stampOnPrimary(storeId: string, revision: number): Promise<string | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const stamp = await notOfReplica(() => this.#options.primary.stampOf(storeId, revision))
      const newest = this.#named.get(storeId)?.revision ?? 0
      if (stamp !== undefined || revision <= newest || attempt === aheadAttempts) return stamp
      await sleep(lookWantedMs)
    }
  }

  #name(storeId: string, { revision, stamp }: Commit, asked: number): void {
    if (asked < (this.#named.get(storeId)?.asked ?? 0)) return
    this.#named.set(storeId, { revision, stamp, asked })
    forgetOldest(this.#named)
  }

  #failed(replica: Replica, storeId: string, error: unknown): ReadOutcome {
    if (error instanceof StoreGone) replica.shows(storeId, -1, this.#named.get(storeId)?.revision ?? 0)
    // One that does not know a commit is behind, or of another history: the next look tells.
    if (error instanceof Behind || error instanceof StoreGone || error instanceof HistoryLost) return "behind"
    const reason = error instanceof Error ? error : new Error(String(error))
    if (replica.fails(reason))
      this.#options.onFault?.(
        new Error(`replica ${replica.name} is not read: ${reason.message}`, { cause: error }),
      )
    return error instanceof OtherHistory ? "refused" : "failed"
  }
}

type OnBatch<Batch extends unknown[]> = (...batch: Batch) => Promise<void> | void
type BatchTerms = NonNullable<Parameters<ServerTupleSource["load"]>[2]>

interface Stream<Batch extends unknown[]> {
  readonly storeId: string
  readonly revisionMin: number
  readonly onBatch: OnBatch<Batch>
  readonly terms: ReadTerms
}

/** The replica lacks the revision. */
class Behind extends Error {}

/** An error of the primary, or of the caller (`cause`), while a replica is read. */
class NotOfReplica extends Error {
  constructor(cause: unknown) {
    super("not of the replica", { cause })
  }
}

/** An error of `work` is not the replica's. */
async function notOfReplica<T>(work: () => Promise<T> | T): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new NotOfReplica(error)
  }
}
