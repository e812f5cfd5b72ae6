import { duplicateKey } from "../plan/json-scan.ts"

interface NoDecisionOptions {
  readonly fault?: boolean
  readonly ill?: boolean
  readonly retryAfterSeconds?: number
}

/** Why there is no decision; never treated as allowed. The message is for the log. */
export class NoDecision extends Error {
  override readonly name = "NoDecision"
  /** The decision point failed or did not respond: a failure for the breaker. */
  readonly fault: boolean
  /** The decision point has a problem: shown to operators. */
  readonly ill: boolean
  readonly retryAfterSeconds: number

  /** `ill` defaults to `fault`. */
  constructor(message: string, options: NoDecisionOptions = {}) {
    super(message)
    const { fault = true, ill = fault, retryAfterSeconds = 1 } = options
    this.fault = fault
    this.ill = ill
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The JSON of a body. Undefined if it is invalid or has a duplicate key (RFC 7493), which parsers interpret differently. */
export function jsonOf(body: Buffer): unknown {
  const text = body.toString("utf8")
  try {
    const json: unknown = JSON.parse(text)
    return duplicateKey(text, json) === undefined ? json : undefined
  } catch {
    return undefined
  }
}
