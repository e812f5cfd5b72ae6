import { createRequire } from "node:module"
import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import type { Exchange } from "../exchange.ts"
import { problem, Refused } from "../messages/answer.ts"
import { bodyJobs, type JobResult } from "./body-jobs.ts"

type Jobs = typeof bodyJobs
type Kind = keyof Jobs

/** The result of a job, with its bytes as a Buffer. */
export type BodyResult = Omit<JobResult, "content"> & { readonly content?: Buffer }

/** The input of a job. */
export type BodyJob<Of extends Kind> = Parameters<Jobs[Of]>[0]

/** Larger bodies are processed in another thread: the slowest job takes about 0.3 µs per byte. */
export const inlineBytesMax = 16_384
/** Total size of the bodies that may wait for a thread, in bytes. */
const waitingBytesMax = 134_217_728
const threadsMax = Math.max(1, Math.min(4, availableParallelism() - 1))
/** Memory limit of one thread, in addition to the bodies. */
const heapMegabytesMax = 512
/** An idle thread ends after this time, to free its memory. */
const idleMs = 10_000

/**
 * Runs a job on a body of `bytes`: a small body in this thread, a large one in another thread, so that the event loop stays free. The job is
 * cancelled when its exchange ends, so the timeout of the route limits it. Throws or rejects with Refused when too many bodies wait, or the job needs
 * too much memory.
 */
export function runBodyJob<Of extends Kind>(
  kind: Of,
  input: BodyJob<Of>,
  bytes: number,
  asker: Pick<Exchange, "whenOver">,
): BodyResult | Promise<BodyResult> {
  if (bytes <= inlineBytesMax) return asBuffer((bodyJobs[kind] as (given: BodyJob<Of>) => JobResult)(input))
  return pool.run({ kind, input, bytes }, asker)
}

interface Asked {
  readonly kind: Kind
  readonly input: unknown
  readonly bytes: number
}

interface Waiting extends Asked {
  /** The thread that runs it. */
  thread?: Thread
  resolve(result: BodyResult): void
  reject(error: Error): void
}

/** The threads of the process, started on demand. */
class Pool {
  readonly #idle: Thread[] = []
  readonly #waiting: Waiting[] = []
  #threads = 0
  #waitingBytes = 0

  /** Queues a job. Waiting bodies are in memory, so their total size is limited; one body alone may always wait. */
  run(asked: Asked, asker: Pick<Exchange, "whenOver">): Promise<BodyResult> {
    if (this.#waitingBytes + asked.bytes > waitingBytesMax && this.#waiting.length > 0)
      throw new Refused(
        problem("overloaded", {
          headers: ["retry-after", "1"],
          cause: `too many large bodies (${this.#waiting.length}) wait to be converted`,
        }),
      )
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { ...asked, resolve, reject }
      this.#waiting.push(waiting)
      this.#waitingBytes += asked.bytes
      asker.whenOver(() => this.#giveUp(waiting))
      this.#next()
    })
  }

  /** Gives jobs to idle threads, and starts threads up to the maximum. */
  #next(): void {
    while (this.#waiting.length > 0) {
      const thread = this.#idle.pop() ?? this.#started()
      if (thread === undefined) return
      const job = this.#waiting.shift() as Waiting
      this.#waitingBytes -= job.bytes
      thread.work(job)
    }
  }

  #giveUp(job: Waiting): void {
    const at = this.#waiting.indexOf(job)
    if (at >= 0) {
      this.#waiting.splice(at, 1)
      this.#waitingBytes -= job.bytes
      job.reject(new Error("the request has ended"))
    } else job.thread?.drop(job)
  }

  /** Starts a thread; undefined if there are enough. */
  #started(): Thread | undefined {
    if (this.#threads >= threadsMax) return undefined
    this.#threads += 1
    return new Thread(
      (thread) => {
        this.#idle.push(thread)
        this.#next()
      },
      (thread) => {
        const at = this.#idle.indexOf(thread)
        if (at >= 0) this.#idle.splice(at, 1)
        this.#threads -= 1
        this.#next()
      },
    )
  }
}

type Message = { readonly result: JobResult } | { readonly error: string }

/** A worker and its current job. When the worker ends, the next job starts a new one. */
class Thread {
  readonly #worker: Worker
  readonly #isIdle: (thread: Thread) => void
  #job: Waiting | undefined
  #timer: NodeJS.Timeout | undefined
  #problem = new Error("the thread for large bodies ended")

  /** A worker with a limited heap: a body that needs too much memory ends the worker and not the process. */
  constructor(isIdle: (thread: Thread) => void, hasEnded: (thread: Thread) => void) {
    this.#isIdle = isIdle
    this.#worker = new Worker(workerFile(), {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
    })
    this.#worker.unref()
    this.#worker.on("message", (message: Message) => this.#done(message))
    this.#worker.on("error", (error: Error & { code?: string }) => {
      this.#problem = error.code === "ERR_WORKER_OUT_OF_MEMORY" ? tooMuch() : error
    })
    this.#worker.once("exit", () => {
      clearTimeout(this.#timer)
      this.#job?.reject(this.#problem)
      this.#job = undefined
      hasEnded(this)
    })
  }

  work(job: Waiting): void {
    clearTimeout(this.#timer)
    this.#job = job
    job.thread = this
    this.#worker.ref()
    this.#worker.postMessage({ kind: job.kind, input: job.input })
  }

  /** Terminates the worker when the exchange of its job has ended. */
  drop(job: Waiting): void {
    if (this.#job === job) void this.#worker.terminate()
  }

  /** A job has ended. An idle thread is ended after `idleMs`, and does not keep the process alive. */
  #done(message: Message): void {
    const job = this.#job
    this.#job = undefined
    clearTimeout(this.#timer)
    this.#worker.unref()
    this.#timer = setTimeout(() => void this.#worker.terminate(), idleMs).unref()
    if ("result" in message) job?.resolve(asBuffer(message.result))
    else job?.reject(new Error(message.error))
    this.#isIdle(this)
  }
}

function tooMuch(): Refused {
  const cause = `converting the body takes more than ${heapMegabytesMax} MB of memory`
  return new Refused(problem("internal-error", { cause }))
}

/** A worker's bytes arrive as a plain Uint8Array. */
function asBuffer({ content, ...rest }: JobResult): BodyResult {
  if (content === undefined) return rest
  return { ...rest, content: Buffer.from(content.buffer, content.byteOffset, content.byteLength) }
}

/** The built worker file, also when this module runs from source (see `imports` in package.json). */
const workerFile = () => createRequire(import.meta.url).resolve("#body-worker")

const pool = new Pool()
