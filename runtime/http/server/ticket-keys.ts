import { hkdfSync, randomBytes } from "node:crypto"

/** From what the keys of a period are derived. `secret`: 32 bytes in base64; `period`: a number that grows by one each `periodMs`. */
export interface TicketSeed {
  readonly secret: string
  readonly period: number
}

/** How long the keys of session tickets are used: who takes them can read the TLS 1.2 sessions of this time. */
const periodMs = 12 * 3_600_000
/** Node's key of tickets: a name of 16 bytes, and 16 each for HMAC and AES. */
const keyBytes = 48
const secretBytes = 32

/**
 * The keys of the session tickets of a process, or of a parent and its workers, which accept each other's connections. All of them change the key at
 * the same time without a message. Each period's secret is derived from the one before, which is then forgotten: it cannot be computed back.
 */
export class TicketKeys {
  readonly #now: () => number
  #secret: Buffer
  #period: number

  /** `seed`: that of another process, which gets the same keys. */
  constructor(seed?: TicketSeed, now: () => number = () => Date.now()) {
    this.#now = now
    this.#secret = seed === undefined ? randomBytes(secretBytes) : Buffer.from(seed.secret, "base64")
    this.#period = seed?.period ?? this.#periodNow()
  }

  /** The seed of the present keys, for another process of this machine. */
  get seed(): TicketSeed {
    this.#advance()
    return { secret: this.#secret.toString("base64"), period: this.#period }
  }

  /** Number of the period; its keys differ from those of all others. */
  get period(): number {
    this.#advance()
    return this.#period
  }

  /** The key of a listener: a ticket is valid only for the listener that issued it. */
  keyOf(listener: string): Buffer {
    this.#advance()
    return derived(this.#secret, `ticket key of ${listener}`, keyBytes)
  }

  /** A clock that was set back keeps the later period. */
  #advance(): void {
    for (const now = this.#periodNow(); this.#period < now; this.#period += 1)
      this.#secret = derived(this.#secret, "next period", secretBytes)
  }

  #periodNow(): number {
    return Math.floor(this.#now() / periodMs)
  }
}

function derived(secret: Buffer, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", purpose, bytes))
}
