import { NoDecision } from "./http.ts"

/** What a decision point looks like from outside, for status and metrics. */
export interface PdpState {
  readonly origin: string
  /** By the last question of the last quarter of an hour; `unknown` where there was none. */
  readonly health: "up" | "down" | "unknown"
  readonly breaker: "closed" | "open" | "half-open" | "none"
  /** Requests sent to it that are not over. */
  readonly outstanding: number
  /** What was wrong, while it is down. */
  readonly lastError: string | undefined
}

/** A request to a decision point that is over. `refused`: it does not take the question, by a status its breaker does not count; `cancelled`: the caller left. */
export interface PdpRequested {
  readonly pdp: string
  readonly outcome: "answered" | "refused" | "failed" | "timeout" | "cancelled"
  readonly ms: number
}

/** What came of a question. `undecided`: it said that it could not decide; `none`: there is no decision. */
export interface PdpDecided {
  readonly pdp: string
  readonly decision: "allowed" | "denied" | "undecided" | "none"
  readonly from: "asked" | "kept"
}

/** Told of what is asked of decision points. Must not throw and must not be slow. */
export interface PdpNotes {
  requested(request: PdpRequested): void
  decided(decision: PdpDecided): void
}

/** Nobody asks any more: what was said last says nothing of now. */
const rememberedMs = 15 * 60_000

/** How a decision point did when it was asked last. There are no checks besides: a question nobody has would be answered from nothing. */
export class Standing {
  outstanding = 0
  #atMs = Number.NEGATIVE_INFINITY
  #error: string | undefined

  succeeded(nowMs: number): void {
    this.#atMs = nowMs
    this.#error = undefined
  }

  /** `message` is what is said of it; an error that says nothing of the decision point leaves it as it was. */
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

/** Whether an answer with this status, which is no decision, says that the decision point is ill or does not know us; else it is the question that may be wrong. */
export function isIll(status: number): boolean {
  return status < 400 || status >= 500 || [401, 403, 407, 408, 429].includes(status)
}

/** What became of a request that ended in an error. */
export function outcomeOf(error: unknown, isGone: boolean): PdpRequested["outcome"] {
  if (isGone) return "cancelled"
  if ((error as { reason?: unknown }).reason === "timeout") return "timeout"
  return error instanceof NoDecision && !error.fault ? "refused" : "failed"
}
