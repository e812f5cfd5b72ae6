import { hash } from "node:crypto"
import { LRUCache } from "lru-cache"
import { canonicalJson } from "../plan/canonical.ts"
import type { AccessEvaluation, PdpDecision } from "./wire.ts"

const entriesMax = 10_000

/** Decisions by the whole of their question, for a time. By digest: a heap dump holds no questions. */
export class KeptDecisions {
  readonly #keptMs: number
  readonly #monotonic: () => number
  // Entries are counted by size, because `max` reserves 200 KiB for an empty cache.
  readonly #entries = new LRUCache<string, { readonly decision: PdpDecision; readonly untilMs: number }>({
    maxSize: entriesMax,
    sizeCalculation: () => 1,
  })

  /** `keptMs` 0: nothing is kept. */
  constructor(keptMs: number, monotonic: () => number) {
    this.#keptMs = keptMs
    this.#monotonic = monotonic
  }

  get(evaluation: AccessEvaluation): PdpDecision | undefined {
    if (this.#keptMs === 0) return undefined
    const key = keyOf(evaluation)
    const found = this.#entries.get(key)
    if (found === undefined || this.#monotonic() < found.untilMs) return found?.decision
    this.#entries.delete(key)
    return undefined
  }

  /** `askedAtMs`: the decision counts from when it was asked for, which may be long before it came. */
  keep(evaluation: AccessEvaluation, decision: PdpDecision, askedAtMs: number): void {
    if (this.#keptMs === 0 || decision.failed === true) return
    this.#entries.set(keyOf(evaluation), { decision, untilMs: askedAtMs + this.#keptMs })
  }
}

function keyOf(evaluation: AccessEvaluation): string {
  return hash("sha256", canonicalJson(evaluation), "base64")
}
