import type { OutgoingRequest, RequestSender } from "../http/client/http-client.ts"
import { jsonOf, NoDecision } from "./http.ts"
import { metadataOf } from "./wire.ts"

/** URLs of a decision point. */
export interface EndpointUrls {
  readonly evaluation: string
  /** Undefined: it accepts only one question per request. */
  readonly evaluations: string | undefined
}

const wellKnown = "/.well-known/authzen-configuration"
/** Lifetime of metadata. */
const keptMs = 600_000
/** Pause after a failure before the next request. */
const pauseMs = 1_000
const documentBytesMax = 256 * 1024

/** The endpoints below a base URL. */
export function endpointsBelow(url: string): EndpointUrls {
  const base = `${url.replace(/\/$/, "")}/access/v1`
  return { evaluation: `${base}/evaluation`, evaluations: `${base}/evaluations` }
}

/**
 * Endpoints from the metadata of a decision point (AuthZEN Authorization API 1.0, section 9). Concurrent callers share one request; it is repeated after
 * ten minutes. The document must belong to this decision point, and must not lead from https to http.
 */
export class DiscoveredEndpoints {
  readonly #url: string
  readonly #http: RequestSender
  readonly #terms: Pick<OutgoingRequest, "timeoutMs" | "trust" | "certificate">
  readonly #monotonic: () => number
  #found: { readonly urls: EndpointUrls; readonly untilMs: number } | undefined
  #asking: Promise<EndpointUrls> | undefined
  #failed: { readonly error: NoDecision; readonly untilMs: number } | undefined

  constructor(
    url: string,
    http: RequestSender,
    terms: Pick<OutgoingRequest, "timeoutMs" | "trust" | "certificate">,
    monotonic: () => number,
  ) {
    this.#url = url.replace(/\/$/, "")
    this.#http = http
    this.#terms = terms
    this.#monotonic = monotonic
  }

  /** Rejects with NoDecision. */
  get(): EndpointUrls | Promise<EndpointUrls> {
    const now = this.#monotonic()
    if (this.#found !== undefined && now < this.#found.untilMs) return this.#found.urls
    if (this.#asking !== undefined) return this.#asking
    if (this.#failed !== undefined && now < this.#failed.untilMs) return Promise.reject(this.#failed.error)
    this.#asking = this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #ask(): Promise<EndpointUrls> {
    try {
      const urls = await this.#fetch()
      this.#found = { urls, untilMs: this.#monotonic() + keptMs }
      return urls
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      const named = error instanceof NoDecision ? error : new NoDecision(`its metadata: ${reason}`)
      this.#failed = { error: named, untilMs: this.#monotonic() + pauseMs }
      throw named
    }
  }

  async #fetch(): Promise<EndpointUrls> {
    const { origin, pathname } = new URL(this.#url)
    const url = `${origin}${wellKnown}${pathname === "/" ? "" : pathname}`
    const { status, body } = await this.#http.send({
      ...this.#terms,
      ...{ url, method: "GET", headers: ["accept", "application/json"], body: undefined },
      responseBytesMax: documentBytesMax,
    })
    if (status !== 200) throw new NoDecision(`its metadata ${url} responds with ${status}`)
    const metadata = metadataOf(jsonOf(body))
    if (metadata === undefined) throw new NoDecision(`its metadata ${url} names no endpoint for evaluations`)
    const { identifier, evaluation, evaluations } = metadata
    // Metadata of another decision point would let that one decide (section 9.2.3).
    if (identifier.replace(/\/$/, "") !== this.#url)
      throw new NoDecision(`its metadata ${url} belongs to \`${identifier.slice(0, 200)}\``)
    for (const endpoint of [evaluation, evaluations])
      if (endpoint !== undefined && !this.#mayAsk(endpoint))
        throw new NoDecision(`its metadata ${url} contains an endpoint that is not a valid URL or not https`)
    return { evaluation, evaluations }
  }

  #mayAsk(endpoint: string): boolean {
    if (!URL.canParse(endpoint)) return false
    const { protocol } = new URL(endpoint)
    return protocol === "https:" || (protocol === "http:" && !/^https:/i.test(this.#url))
  }
}
