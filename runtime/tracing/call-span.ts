import { firstAttribute, serverAttributes, textAttribute, wholeAttribute } from "./attributes.ts"
import { randomId } from "./random-ids.ts"
import type { RecordedPart, RequestTrace } from "./request-trace.ts"

const requestMethod = firstAttribute("http.request.method")
const urlFull = textAttribute("url.full")
const responseStatus = wholeAttribute("http.response.status_code")
const errorKind = textAttribute("error.type")

/** The span of a request that a step sends. Of its URL it has only the origin, because a step wrote the rest, which may contain a secret. */
export class CallSpan implements RecordedPart {
  readonly spanId = randomId(8)
  readonly parentSpanId: string | undefined
  readonly started = performance.now()
  readonly kind = "client"
  ended: number | undefined
  #status: number | undefined
  #failure: string | undefined
  readonly #method: string
  readonly #url: string

  constructor(trace: RequestTrace, method: string, url: string) {
    this.parentSpanId = trace.open?.spanId
    this.#method = method
    this.#url = url
    trace.add(this)
  }

  get spanName(): string {
    return this.#method
  }

  get error(): string | undefined {
    return this.#status !== undefined && this.#status >= 400 ? String(this.#status) : this.#failure
  }

  /** The response has arrived, or there is none. `failure`: a short name of the reason. */
  end(status: number | undefined, failure?: string): void {
    this.ended = performance.now()
    this.#status = status
    this.#failure = failure
  }

  attributes(): string {
    const url = new URL(this.#url)
    return (
      requestMethod(this.#method) +
      serverAttributes(url) +
      urlFull(url.origin) +
      responseStatus(this.#status) +
      errorKind(this.error)
    )
  }
}
