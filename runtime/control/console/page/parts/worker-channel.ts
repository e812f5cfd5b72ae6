/** A request on its way to a worker. */
export interface WorkerMessage<Request> {
  readonly number: number
  readonly body: Request
}

/** The reply to the request of this number; `failure`: a fault of the worker's own code. */
export type WorkerResult<Reply> =
  | { readonly number: number; readonly body: Reply }
  | { readonly number: number; readonly failure: string }

interface TrustedUrls {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string }
}

let policy: { createScriptURL(url: string): string } | undefined

/** The content policy allows script addresses of this policy only. Not every browser has them. */
function trusted(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedUrls }
  policy ??= trustedTypes?.createPolicy("sallyport", { createScriptURL: (each) => each })
  return policy?.createScriptURL(url) ?? url
}

/** An address of the page's own files, as the `meta` element of this name in index.html has it. */
export function metaAddress(name: string): string {
  const content = document.querySelector(`meta[name="${name}"]`)?.getAttribute("content") ?? ""
  return new URL(content, document.baseURI).href
}

/** Asks a second thread. The worker is started by the first request, so that pages load quickly. */
export class WorkerChannel<Request, Reply> {
  readonly #meta: string
  readonly #waiting = new Map<number, (reply: WorkerResult<Reply>) => void>()
  #worker: Worker | undefined
  #count = 0

  /** `meta`: see `metaAddress`. */
  constructor(meta: string) {
    this.#meta = meta
  }

  /** Rejects with an Error when the worker failed, or was stopped. */
  async ask(body: Request): Promise<Reply> {
    this.#count += 1
    const number = this.#count
    const result = await new Promise<WorkerResult<Reply>>((resolve) => {
      this.#waiting.set(number, resolve)
      this.#started().postMessage({ number, body } satisfies WorkerMessage<Request>)
    })
    if ("failure" in result) throw new Error(result.failure)
    return result.body
  }

  /** Ends what the worker does now. Its requests are rejected; the next one starts a new worker. */
  stop(): void {
    this.#worker?.terminate()
    this.#worker = undefined
    for (const [number, settle] of this.#waiting) settle({ number, failure: "stopped" })
    this.#waiting.clear()
  }

  #started(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const worker = new Worker(trusted(metaAddress(this.#meta)), { type: "module" })
    worker.addEventListener("message", ({ data }: MessageEvent<WorkerResult<Reply>>) => {
      this.#waiting.get(data.number)?.(data)
      this.#waiting.delete(data.number)
    })
    this.#worker = worker
    return worker
  }
}
