import { hash } from "node:crypto"
import { canonicalJson } from "../plan/canonical.ts"
import type { Decision, Evaluation } from "./wire.ts"

const entriesMax = 10_000

/** Decisions by the whole of their question, for a time. By digest: a heap dump holds no questions. */
export class KeptDecisions {
  readonly #keptMs: number
  readonly #monotonic: () => number
  readonly #entries = new Map<string, { readonly decision: Decision; readonly untilMs: number }>()

  /** `keptMs` 0: nothing is kept. */
  constructor(keptMs: number, monotonic: () => number) {
    this.#keptMs = keptMs
    this.#monotonic = monotonic
  }

  get(evaluation: Evaluation): Decision | undefined {
    if (this.#keptMs === 0) return undefined
    const key = keyOf(evaluation)
    const found = this.#entries.get(key)
    if (found === undefined || this.#monotonic() < found.untilMs) return found?.decision
    this.#entries.delete(key)
    return undefined
  }

  /** `askedAtMs`: the decision counts from when it was asked for, which may be long before it came. */
  keep(evaluation: Evaluation, decision: Decision, askedAtMs: number): void {
    if (this.#keptMs === 0 || decision.failed === true) return
    const key = keyOf(evaluation)
    this.#entries.delete(key)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size >= entriesMax && oldest !== undefined) this.#entries.delete(oldest)
    this.#entries.set(key, { decision, untilMs: askedAtMs + this.#keptMs })
  }
}

function keyOf(evaluation: Evaluation): string {
  return hash("sha256", canonicalJson(evaluation), "base64")
}
