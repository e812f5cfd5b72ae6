import type { KeySet } from "./key-set.ts"
import type { IssuerKeys, KeySource } from "./key-source.ts"
import type { KeyState } from "./verifier.ts"

export interface KeyRingOptions {
  /** Monotonic clock, milliseconds. */
  readonly now?: () => number
  /** Called on every failed fetch and on the next successful one; for the log. */
  readonly onChange?: (state: { readonly ready: boolean; readonly error: string | undefined }) => void
}

/** Keys are refreshed in the background after this time. */
const refreshMs = 10 * 60_000
/** Keys that could not be confirmed for this long are no longer trusted. */
const staleMsMax = 24 * 60 * 60_000
const backoffMsMin = 1_000
const backoffMsMax = 30_000
/** Limit on fetches for tokens with an unknown `kid`: three at once, then one every 20 seconds (about three a minute). */
const unknownKidBurst = 3
const unknownKidEveryMs = 20_000
/** How long a request waits for the first keys before the response is 503. */
const firstKeysWaitMs = 2_000
/** How long a token with an unknown `kid` waits for a fetch: enough for a healthy issuer, short for callers if the issuer hangs. */
const unknownKidWaitMs = 75

/**
 * The keys of one issuer over time. Only one fetch runs at a time. If a fetch fails, the last good keys stay in use, and the next attempt waits,
 * doubling up to 30 s, so that a recovering issuer is not overloaded.
 */
export class KeyRing {
  readonly #source: KeySource
  readonly #now: () => number
  readonly #onChange: KeyRingOptions["onChange"]
  #current: IssuerKeys | undefined
  #confirmedAtMs = 0
  #failures = 0
  #retryAtMs = Number.NEGATIVE_INFINITY
  #lastError: string | undefined
  #pending: Promise<void> | undefined
  #pendingSinceMs = 0
  #unknownKidTokens = unknownKidBurst
  #unknownKidAtMs = 0
  /** Raised when a fetch returned other keys: tokens verified with the old keys must be verified again. */
  version = 0

  constructor(source: KeySource, options: KeyRingOptions = {}) {
    this.#source = source
    this.#now = options.now ?? (() => performance.now())
    this.#onChange = options.onChange
  }

  /** The current keys; undefined if there are none or they are too old. Starts a background refresh when it is due. */
  current(): IssuerKeys | undefined {
    const nowMs = this.#now()
    if (this.#current === undefined) return undefined
    const ageMs = nowMs - this.#confirmedAtMs
    if (ageMs > refreshMs && nowMs >= this.#retryAtMs) void this.#fetch()
    return ageMs > staleMsMax ? undefined : this.#current
  }

  /** The first keys: waits for the current fetch until it is two seconds old. */
  async first(): Promise<IssuerKeys | undefined> {
    if (this.#pending === undefined && this.#now() >= this.#retryAtMs) void this.#fetch()
    await this.#waitForFetch(firstKeysWaitMs)
    return this.current()
  }

  /** Called for a `kid` without a key: fetches again if the limit allows. True if new keys arrived in time; a slower fetch continues in the background. */
  async refetchForUnknownKid(): Promise<boolean> {
    const before = this.version
    if (this.#pending === undefined) {
      if (!this.#takeUnknownKidToken()) return false
      void this.#fetch()
    }
    await this.#waitForFetch(unknownKidWaitMs)
    return this.version !== before
  }

  /** Waits by the age of the fetch and not of the request: if the issuer hangs, only requests at the start of a fetch wait. */
  async #waitForFetch(ageMsMax: number): Promise<void> {
    const leftMs = this.#pendingSinceMs + ageMsMax - this.#now()
    if (this.#pending !== undefined && leftMs > 0) await waitAtMost(this.#pending, leftMs)
  }

  /** Starts getting keys without waiting for them. */
  start(): void {
    if (this.#current === undefined && this.#pending === undefined && this.#now() >= this.#retryAtMs)
      void this.#fetch()
  }

  get state(): KeyState {
    const current = this.current()
    return {
      ready: current !== undefined,
      lastError: this.#lastError,
      keys: shownKeys(current?.keys ?? []),
      ageMs: current === undefined ? undefined : Math.round(this.#now() - this.#confirmedAtMs),
    }
  }

  /** Seconds until a retry is useful; at least 1. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil((this.#retryAtMs - this.#now()) / 1000))
  }

  /** Limits how often unknown ids cause a request: anybody can send a token with one. */
  #takeUnknownKidToken(): boolean {
    const nowMs = this.#now()
    const refilled = Math.floor((nowMs - this.#unknownKidAtMs) / unknownKidEveryMs)
    if (refilled > 0) {
      this.#unknownKidTokens = Math.min(unknownKidBurst, this.#unknownKidTokens + refilled)
      this.#unknownKidAtMs = nowMs
    }
    if (this.#unknownKidTokens === 0 || nowMs < this.#retryAtMs) return false
    this.#unknownKidTokens -= 1
    return true
  }

  /** Fetches the keys; concurrent callers share one request. */
  #fetch(): Promise<void> {
    if (this.#pending === undefined) this.#pendingSinceMs = this.#now()
    this.#pending ??= this.#source()
      .then(
        (keys) => this.#succeeded(keys),
        (error: unknown) => this.#failed(error instanceof Error ? error.message : String(error)),
      )
      .finally(() => {
        this.#pending = undefined
      })
    return this.#pending
  }

  /** New keys. `version` changes with them, so that cached verifications end. */
  #succeeded(keys: IssuerKeys): void {
    if (this.#current === undefined || !sameKeys(this.#current, keys)) this.version += 1
    const recovered = this.#lastError !== undefined
    this.#current = keys
    this.#confirmedAtMs = this.#now()
    this.#failures = 0
    this.#retryAtMs = Number.NEGATIVE_INFINITY
    this.#lastError = undefined
    if (recovered) this.#onChange?.({ ready: true, error: undefined })
  }

  #failed(error: string): void {
    const waitMs = Math.min(backoffMsMax, backoffMsMin * 2 ** this.#failures)
    this.#failures = Math.min(this.#failures + 1, 10)
    this.#retryAtMs = this.#now() + waitMs
    this.#lastError = error
    this.#onChange?.({ ready: this.#current !== undefined, error })
  }
}

/** Each key once: one for several algorithms is imported for each of them, and those follow each other. */
function shownKeys(keys: KeySet): KeyState["keys"] {
  const shown: { id: string | undefined; algorithms: string[] }[] = []
  for (const { kid, algorithms } of keys) {
    const last = shown.at(-1)
    if (kid !== undefined && last?.id === kid) last.algorithms.push(...algorithms)
    else shown.push({ id: kid, algorithms: [...algorithms] })
  }
  return shown
}

/** Sets are equal if they have the same key ids in the same order. A set without ids counts as changed, to be safe. */
function sameKeys(a: IssuerKeys, b: IssuerKeys): boolean {
  if (a.issuer !== b.issuer || a.keys.length !== b.keys.length) return false
  return a.keys.every((key, index) => key.kid !== undefined && key.kid === b.keys[index]?.kid)
}

async function waitAtMost(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([promise, timeout])
  clearTimeout(timer)
}
