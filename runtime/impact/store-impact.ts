import { createRequire } from "node:module"
import { Worker } from "node:worker_threads"
import type { ImpactRow } from "../check/access-change.ts"
import { concernedTuples } from "../check/concerned-tuples.ts"
import type { AccessImpact, ImpactProgress } from "../check/impact.ts"
import { loadModel } from "../check/loaded-model.ts"
import { type Commit, packRows, type TupleRow, type TupleSnapshot, type TupleSource } from "../check/ports.ts"
import type { ModelPlan } from "../plan/authorization-model.ts"
import type { FromImpactThread, ImpactJob, ToImpactThread } from "./messages.ts"
import type { ProcessorShare } from "./processor-share.ts"

/** Memory of a comparison, without the tuples. */
const memoryBytesDefault = 1_000_000_000
/** The thread's own heap; nearly all of its data is in arrays outside of it. */
const heapMegabytesMax = 1_024
/** Requests that are served by the same machine keep their time. */
const shareDefault: ProcessorShare = "idle"
/** Batches of tuples that the thread has not taken yet. */
const batchesWaitingMax = 4

/** Tuples that are read one part after the other. More of them are read faster with the whole store. */
const concernedMaxDefault = 50_000
/** Tuples of one message to the thread. */
const rowsAtOnce = 1_000

/** The tuples of stores. */
export interface ImpactSource extends Pick<TupleSource, "load"> {
  /** Reads parts of a store at one commit; undefined when the database cannot do that. */
  snapshot<T>(storeId: string, read: (snapshot: TupleSnapshot) => Promise<T>): Promise<T | undefined>
}

/** A comparison of the people of two models over the tuples of a store in the database. */
export interface StoreImpactTerms {
  readonly source: ImpactSource
  readonly storeId: string
  readonly before: ModelPlan
  readonly after: ModelPlan
  /** Values for conditions. */
  readonly context?: Readonly<Record<string, unknown>> | undefined
  /** Whether every row is wanted, and not only samples. A number: if there are at most so many. */
  readonly rows: boolean | number
  readonly depthMax: number
  /** Default: 1 GB. */
  readonly memoryBytes?: number | undefined
  /** Tuples up to which only those that the change concerns are read (default: 50,000); otherwise the whole store is. */
  readonly concernedMax?: number | undefined
  /** Default: "idle". */
  readonly share?: ProcessorShare | undefined
  /** Ends the comparison. */
  readonly signal: AbortSignal
}

/** What a comparison tells, in this order: reading, progress and rows, and its result at last. */
export type StoreImpactEvent =
  | { readonly reading: number | undefined }
  | { readonly progress: ImpactProgress }
  | { readonly rows: readonly ImpactRow[] }
  | {
      readonly result: AccessImpact
      readonly revision: number
      readonly tuples: number
      readonly whole: boolean
    }

/** Sends the thread the tuples that the change concerns, if they are not too many, or all. */
async function read(
  terms: StoreImpactTerms,
  thread: ImpactThread,
): Promise<{ commit: Commit; whole: boolean }> {
  const { source, storeId, concernedMax: max = concernedMaxDefault, signal } = terms
  const [before, after] = [loadModel(terms.before), loadModel(terms.after)]
  const found = await source.snapshot(storeId, async (snapshot) => ({
    commit: snapshot.at,
    rows: await concernedTuples({ snapshot, before, after, max, signal }),
  }))
  if (found?.rows === undefined) return { commit: await thread.read(source, storeId), whole: true }
  thread.take(found.rows)
  return { commit: found.commit, whole: false }
}

/**
 * Reads the tuples of a store at one commit into a thread of its own, and compares two models over them there. Nothing of it is in the
 * process's event loop but the reading. When `signal` aborts, or the caller stops to read, the thread ends at once.
 * @throws the source's errors, and the thread's
 */
export async function* storeImpact(terms: StoreImpactTerms): AsyncGenerator<StoreImpactEvent> {
  const { before, after, context, rows, depthMax, signal } = terms
  const { memoryBytes = memoryBytesDefault, share = shareDefault } = terms
  const job: ImpactJob = { before, after, context, rows, memoryBytes, depthMax, share }
  const thread = new ImpactThread(job)
  const stop = () => thread.end()
  signal.addEventListener("abort", stop, { once: true })
  try {
    signal.throwIfAborted()
    const reading = read(terms, thread)
    // A failed reading ends the thread, so that the loop below ends with its error.
    reading.catch((error: unknown) => thread.fail(error))
    for await (const event of thread.events()) {
      if (!("done" in event)) yield event
      else {
        const { commit, whole } = await reading
        yield { result: event.done.impact, tuples: event.done.tuples, revision: commit.revision, whole }
      }
    }
  } finally {
    signal.removeEventListener("abort", stop)
    thread.end()
  }
}

type ThreadEvent =
  | Exclude<StoreImpactEvent, { result: unknown }>
  | { readonly done: Extract<FromImpactThread, { kind: "done" }> }

/** The worker, with its messages as events. */
class ImpactThread {
  readonly #worker: Worker
  readonly #waiting: ThreadEvent[] = []
  #batches = 0
  #isDone = false
  #failure: unknown
  #wake: () => void = () => undefined
  #onReady: () => void = () => undefined

  constructor(job: ImpactJob) {
    this.#worker = new Worker(workerFile(), {
      execArgv: [],
      workerData: job,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
    })
    this.#worker.unref()
    this.#worker.on("message", (message: FromImpactThread) => this.#take(message))
    this.#worker.on("error", (error) => this.fail(error))
    this.#worker.once("exit", () => this.fail(new Error("the thread of the comparison ended")))
  }

  /** Sends all tuples; resolves to their commit. */
  async read(source: Pick<TupleSource, "load">, storeId: string): Promise<Commit> {
    const commit = await source.load(
      storeId,
      async (rows, part) => {
        if (this.#failure !== undefined) throw this.#failure
        this.#post({ kind: "tuples", rows })
        this.#batches++
        this.#add({ reading: part })
        while (this.#batches >= batchesWaitingMax && this.#failure === undefined)
          await new Promise<void>((resolve) => {
            this.#onReady = resolve
          })
      },
      { onRestart: () => this.#post({ kind: "restart" }) },
    )
    this.#post({ kind: "loaded" })
    return commit
  }

  /** Sends these tuples. */
  take(rows: readonly TupleRow[]): void {
    for (let at = 0; at < rows.length; at += rowsAtOnce)
      this.#post({ kind: "tuples", rows: packRows(rows.slice(at, at + rowsAtOnce)) })
    this.#post({ kind: "loaded" })
  }

  /** All events up to the result. */
  async *events(): AsyncGenerator<ThreadEvent> {
    for (;;) {
      const event = this.#waiting.shift()
      if (event !== undefined) {
        yield event
        if ("rows" in event) this.#post({ kind: "taken" })
        continue
      }
      if (this.#isDone) return
      if (this.#failure !== undefined) throw this.#failure
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  fail(error: unknown): void {
    this.#failure ??= error
    this.#wake()
    this.#onReady()
  }

  end(): void {
    this.fail(new Error("the comparison was cancelled"))
    void this.#worker.terminate()
  }

  #post(message: ToImpactThread): void {
    this.#worker.postMessage(message)
  }

  #take(message: FromImpactThread): void {
    if (message.kind === "ready") {
      this.#batches--
      this.#onReady()
    } else if (message.kind === "done") {
      this.#isDone = true
      this.#add({ done: message })
    } else this.#add(message.kind === "rows" ? { rows: message.rows } : { progress: message.progress })
  }

  #add(event: ThreadEvent): void {
    this.#waiting.push(event)
    this.#wake()
  }
}

const workerFile = () => createRequire(import.meta.url).resolve("#impact-worker")
