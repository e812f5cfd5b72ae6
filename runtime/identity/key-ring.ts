import type { IssuerKeys, KeySource } from "./key-source.ts"

export interface KeyRingOptions {
  /** Monotonic clock, milliseconds. */
  readonly now?: () => number
  /** Told of every failed and the next good fetch; for the log. */
  readonly onChange?: (state: { readonly ready: boolean; readonly error: string | undefined }) => void
}

/** Good keys are asked for again after this time, in the background. */
const refreshMs = 10 * 60_000
/** Keys nobody could confirm for so long are no longer believed. */
const staleMsMax = 24 * 60 * 60_000
const backoffMsMin = 1_000
const backoffMsMax = 30_000
/** Fetches that tokens with an unknown `kid` may cause: three at once, then one in twenty seconds (at most about three a minute). */
const unknownKidBurst = 3
const unknownKidEveryMs = 20_000
/** How long a request waits for the very first keys before it is answered 503. */
const firstKeysWaitMs = 2_000
/** How long a token with an unknown `kid` waits for a fetch: enough for an issuer that is well, little for a caller of one that hangs. */
const unknownKidWaitMs = 75

/**
 * The keys of one issuer over time. One fetch at a time whoever asks; the last good keys stay when a fetch fails; after a failure the next
 * try waits, doubling up to 30 s, so that an issuer that comes back is not met by a herd.
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
  /** Raised when a fetch brought other keys: what was verified with the old ones must be verified anew. */
  version = 0

  constructor(source: KeySource, options: KeyRingOptions = {}) {
    this.#source = source
    this.#now = options.now ?? (() => performance.now())
    this.#onChange = options.onChange
  }

  /** The keys to use now, undefined when there are none or they are too old. Starts a refresh in the background when it is time. */
  current(): IssuerKeys | undefined {
    const nowMs = this.#now()
    if (this.#current === undefined) return undefined
    const ageMs = nowMs - this.#confirmedAtMs
    if (ageMs > refreshMs && nowMs >= this.#retryAtMs) void this.#fetch()
    return ageMs > staleMsMax ? undefined : this.#current
  }

  /** The first keys: waits for the fetch under way until it is two seconds old. */
  async first(): Promise<IssuerKeys | undefined> {
    if (this.#pending === undefined && this.#now() >= this.#retryAtMs) void this.#fetch()
    await this.#waitForFetch(firstKeysWaitMs)
    return this.current()
  }

  /** Called for a `kid` that is in no key: fetches again when the budget allows. True when other keys came soon; a fetch that takes longer goes on without the caller. */
  async refetchForUnknownKid(): Promise<boolean> {
    const before = this.version
    if (this.#pending === undefined) {
      if (!this.#takeUnknownKidToken()) return false
      void this.#fetch()
    }
    await this.#waitForFetch(unknownKidWaitMs)
    return this.version !== before
  }

  /** Waits by the age of the fetch and not of the request: of an issuer that hangs, only those who came at its beginning wait at all. */
  async #waitForFetch(ageMsMax: number): Promise<void> {
    const leftMs = this.#pendingSinceMs + ageMsMax - this.#now()
    if (this.#pending !== undefined && leftMs > 0) await waitAtMost(this.#pending, leftMs)
  }

  /** Starts getting keys without waiting for them. */
  start(): void {
    if (this.#current === undefined && this.#pending === undefined && this.#now() >= this.#retryAtMs)
      void this.#fetch()
  }

  get state(): { readonly ready: boolean; readonly lastError: string | undefined } {
    return { ready: this.current() !== undefined, lastError: this.#lastError }
  }

  /** Seconds until asking again can make a difference; at least 1. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil((this.#retryAtMs - this.#now()) / 1000))
  }

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

/** A set is the same when it has the same key ids in the same order; one without ids counts as changed, to be safe. */
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
