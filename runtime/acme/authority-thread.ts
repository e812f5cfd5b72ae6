import { createRequire } from "node:module"
import { Worker } from "node:worker_threads"
import {
  type AuthorityTask,
  type FromAuthorityThread,
  type IssuedPair,
  OrderFailed,
  type OrderSettings,
  type PublishedChallenge,
  type RenewalSuggestion,
  type ToAuthorityThread,
} from "./messages.ts"

/** The thread ends when it had no task for this long. */
const idleMs = 60_000
/** Enough for the library and the largest responses: an authority that sends nonsense ends the thread and not the process. */
const heapMegabytesMax = 256

interface Results {
  readonly order: IssuedPair
  readonly suggestion: RenewalSuggestion | undefined
  readonly validation: IssuedPair
}

type TaskOf<Kind> = Extract<AuthorityTask, { readonly kind: Kind }>

/** A task in progress. */
interface Call {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
  readonly publish: (challenge: PublishedChallenge) => Promise<void>
}

/** How a task may end early, and where challenges of an order are published. */
interface TaskTerms {
  readonly signal?: AbortSignal
  readonly publish?: (challenge: PublishedChallenge) => Promise<void>
}

/**
 * The thread that talks to authorities, for one process. It starts with the first task. Loading the library alone takes 0.3 s of CPU time, and an order
 * runs for up to 70 ms at a time: in the process's own thread, all requests would wait.
 */
export class AuthorityThread {
  #worker: Worker | undefined
  readonly #calls = new Map<number, Call>()
  #lastId = 0
  #timer: NodeJS.Timeout | undefined

  /**
   * Orders a certificate for all hosts of the settings. Run one order at a time. `replaced`: the certificate that it renews.
   * @throws OrderFailed, also when `signal` is aborted
   */
  order(
    settings: OrderSettings,
    accountKey: string,
    replaced: string | undefined,
    terms: Required<TaskTerms>,
  ): Promise<IssuedPair> {
    return this.#run({ kind: "order", settings, accountKey, replaced }, terms)
  }

  /** A time of renewal that the authority suggests; undefined: it makes none. @throws Error when it does not answer */
  suggestion(
    settings: OrderSettings,
    cert: string,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<RenewalSuggestion | undefined> {
    return this.#run({ kind: "suggestion", settings, cert, nowMs }, { signal })
  }

  /** The certificate that answers TLS-ALPN-01 for a host. */
  validation(host: string, response: string): Promise<IssuedPair> {
    return this.#run({ kind: "validation", host, response }, {})
  }

  /** Ends the thread, and the tasks in progress. */
  async end(): Promise<void> {
    await this.#stop(new OrderFailed("the process ended the order"))
  }

  async #run<Kind extends keyof Results>(
    task: TaskOf<Kind>,
    { signal, publish = unwanted }: TaskTerms,
  ): Promise<Results[Kind]> {
    // A task cannot be interrupted inside of the library, so the whole thread ends.
    const stop = () => void this.#stop(new OrderFailed("the authority has not finished in time"))
    if (signal?.aborted === true) throw new OrderFailed("the process ended the order")
    signal?.addEventListener("abort", stop, { once: true })
    clearTimeout(this.#timer)
    const worker = this.#started()
    this.#lastId += 1
    const id = this.#lastId
    try {
      return await new Promise<Results[Kind]>((resolve, reject) => {
        this.#calls.set(id, { resolve: resolve as Call["resolve"], reject, publish })
        worker.postMessage({ id, task } satisfies ToAuthorityThread)
      })
    } finally {
      signal?.removeEventListener("abort", stop)
      this.#calls.delete(id)
      if (this.#calls.size === 0) this.#timer = setTimeout(() => void this.end(), idleMs).unref()
    }
  }

  #started(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const worker = new Worker(workerFile(), {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
    })
    worker.unref()
    worker.on("message", (message: FromAuthorityThread) => this.#take(worker, message))
    const ended = (error: Error) => {
      if (this.#worker === worker) void this.#stop(error)
    }
    worker.on("error", ended)
    worker.once("exit", () => ended(new Error("the thread for orders ended")))
    this.#worker = worker
    return worker
  }

  #take(worker: Worker, message: FromAuthorityThread): void {
    const call = this.#calls.get(message.id)
    if (call === undefined) return
    if ("result" in message) call.resolve(message.result)
    else if ("failure" in message) call.reject(new OrderFailed(message.failure, message.pauseMs))
    else {
      const published = message.publish.token
      const answer = (failure: string | undefined) =>
        worker.postMessage({ published, failure } satisfies ToAuthorityThread)
      call.publish(message.publish).then(
        () => answer(undefined),
        (error: unknown) => answer((error as Error).message),
      )
    }
  }

  async #stop(error: Error): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    clearTimeout(this.#timer)
    for (const { reject } of this.#calls.values()) reject(error)
    await worker?.terminate()
  }
}

/** Only orders publish challenges. */
async function unwanted(): Promise<void> {}

/** The built worker file, also when this module runs from source (see `imports` in package.json). */
const workerFile = () => createRequire(import.meta.url).resolve("#authority-worker")
