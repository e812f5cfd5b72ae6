import { NoDecision } from "./http.ts"

/** The state of a decision point, for status and metrics. */
export interface PdpState {
  readonly origin: string
  /** By the last question of the last 15 minutes; `unknown` if there was none. */
  readonly health: "up" | "down" | "unknown"
  readonly breaker: "closed" | "open" | "half-open" | "none"
  /** Requests that have not ended. */
  readonly outstanding: number
  /** The error, while it is down. */
  readonly lastError: string | undefined
}

/** A finished request to a decision point. `refused`: it rejected the question with a status that the breaker does not count; `cancelled`: the caller left. */
export interface PdpRequested {
  readonly pdp: string
  readonly outcome: "answered" | "refused" | "failed" | "timeout" | "cancelled"
  readonly ms: number
}

/** The result of a question. `undecided`: the decision point reported that it could not decide; `none`: there is no decision. */
export interface PdpDecided {
  readonly pdp: string
  readonly decision: "allowed" | "denied" | "undecided" | "none"
  readonly from: "asked" | "kept"
}

/** Receives events of decision points. Must not throw and must be fast. */
export interface PdpNotes {
  requested(request: PdpRequested): void
  decided(decision: PdpDecided): void
}

/** After this time without questions, the last result is outdated. */
const rememberedMs = 15 * 60_000

/** The result of the last question to a decision point. There are no active health checks, because they would need invented questions. */
export class Standing {
  outstanding = 0
  #atMs = Number.NEGATIVE_INFINITY
  #error: string | undefined

  succeeded(nowMs: number): void {
    this.#atMs = nowMs
    this.#error = undefined
  }

  /** `message` describes the error. An error that is no evidence about the decision point leaves the state unchanged. */
  failed(nowMs: number, error: unknown, message: string): void {
    if (error instanceof NoDecision && !error.ill) return
    this.#atMs = nowMs
    this.#error = message
  }

  state(nowMs: number): Pick<PdpState, "health" | "outstanding" | "lastError"> {
    const { outstanding } = this
    if (nowMs - this.#atMs > rememberedMs) return { health: "unknown", outstanding, lastError: undefined }
    return { health: this.#error === undefined ? "up" : "down", outstanding, lastError: this.#error }
  }
}

/**
 * Whether a response with this status, which is no decision, shows that the decision point has a problem or does not accept the gateway. For other
 * statuses the question can be wrong.
 */
export function isIll(status: number): boolean {
  return status < 400 || status >= 500 || [401, 403, 407, 408, 429].includes(status)
}

/** The outcome of a request that ended in an error. */
export function outcomeOf(error: unknown, isGone: boolean): PdpRequested["outcome"] {
  if (isGone) return "cancelled"
  if ((error as { reason?: unknown }).reason === "timeout") return "timeout"
  return error instanceof NoDecision && !error.fault ? "refused" : "failed"
}
