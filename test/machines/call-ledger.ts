import { callsMax } from "./fleet.ts"

/** What became of the calls of one caller. */
interface Account {
  passed: number
  refused: number
  /** Calls without an answer: they may have been counted. */
  unknown: number
  readonly begun: number
}

/**
 * Counts the calls of callers who may make `callsMax` calls each, over all processes together. `disturbances` are events after which a counter
 * may begin anew, or each process counts on its own.
 */
export class CallLedger {
  readonly #accounts = new Map<string, Account>()
  readonly #refusal: number
  #disturbances = 0
  #unsettledUntilMs = 0

  /** `refusal`: status of a call too many. */
  constructor(refusal: number) {
    this.#refusal = refusal
  }

  /** For what is under way, and for callers who begin within `unsettledMs`, more calls may pass. */
  disturb(unsettledMs = 0): void {
    this.#disturbances++
    this.#unsettledUntilMs = performance.now() + unsettledMs
  }

  begin(caller: string): void {
    if (this.#accounts.has(caller)) return
    const begun = this.#disturbances - (performance.now() < this.#unsettledUntilMs ? 1 : 0)
    this.#accounts.set(caller, { passed: 0, refused: 0, unknown: 0, begun })
  }

  /** The status of one call; 0: no answer. */
  ended(caller: string, status: number): void {
    const account = this.#accounts.get(caller)
    if (account === undefined) throw new Error(`${caller} has not begun`)
    if (status === 200) account.passed++
    else if (status === this.#refusal) account.refused++
    else account.unknown++
  }

  /**
   * Judges all callers and forgets them. `earlyMax`: calls that a process may hold back. `freshCounters`: how many counters, besides the shared
   * one, a disturbance lets begin.
   */
  judge(what: string, earlyMax: number, freshCounters: number): readonly string[] {
    const wrong: string[] = []
    for (const [caller, { passed, refused, unknown, begun }] of this.#accounts) {
      const told = `${what}: ${passed} calls of ${caller} passed, ${refused} were refused, ${unknown} had no answer`
      if (passed > callsMax * (1 + freshCounters * (this.#disturbances - begun)))
        wrong.push(`${told}: too many`)
      if (refused > 0 && passed + unknown + earlyMax < callsMax)
        wrong.push(`${told}: refused within the limit`)
    }
    this.#accounts.clear()
    return wrong
  }
}
