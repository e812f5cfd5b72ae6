import { duplicateKey } from "../plan/json-scan.ts"

/** A request to a decision point; `headers`: names and values in turn. */
export interface PdpRequest {
  readonly url: string
  readonly method: string
  readonly headers: readonly string[]
  readonly body: Buffer | undefined
  readonly timeoutMs: number
  readonly responseBytesMax: number
  /** PEM of the certificate we show, and of its key. */
  readonly certificate?: { readonly cert: string; readonly key: string }
  /** By what its certificate is judged, where that is not the system's authorities. */
  readonly trust?: { readonly ca: string | undefined; readonly insecure: boolean }
  readonly signal?: AbortSignal
}

/** Sends requests and holds their answers whole. Rejects when there is none: with `reason` `unreachable` where the connection broke. */
export interface PdpHttp {
  send(request: PdpRequest): Promise<{ readonly status: number; readonly body: Buffer }>
}

interface NoDecisionOptions {
  readonly fault?: boolean
  readonly ill?: boolean
  readonly retryAfterSeconds?: number
}

/** Why there is no decision: never an allow. The message is for the log. */
export class NoDecision extends Error {
  override readonly name = "NoDecision"
  /** The decision point failed, or did not answer: what a breaker counts. */
  readonly fault: boolean
  /** It says that the decision point is not well: what operators are told. */
  readonly ill: boolean
  readonly retryAfterSeconds: number

  /** `ill`: as `fault` where nothing is said of it. */
  constructor(message: string, options: NoDecisionOptions = {}) {
    super(message)
    const { fault = true, ill = fault, retryAfterSeconds = 1 } = options
    this.fault = fault
    this.ill = ill
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The JSON of a body; undefined for what is none, or says one thing twice (RFC 7493): readers would not agree what it says. */
export function jsonOf(body: Buffer): unknown {
  const text = body.toString("utf8")
  try {
    const json: unknown = JSON.parse(text)
    return duplicateKey(text, json) === undefined ? json : undefined
  } catch {
    return undefined
  }
}
