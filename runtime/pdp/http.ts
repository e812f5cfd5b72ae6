import { duplicateKey } from "../plan/json-scan.ts"

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
