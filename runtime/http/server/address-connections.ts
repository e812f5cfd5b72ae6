/** How many connections an address may have. Absent: no limit. */
export interface AddressLimits {
  readonly openMax: number | undefined
  /** New ones in a second. */
  readonly newMax: number | undefined
  /** What counts as one address; undefined: it is not limited. */
  countedAs(address: string): string | undefined
}

interface Entry {
  open: number
  /** New connections that are left, which refill over a second. */
  left: number
  atMs: number
}

/** Entries without connections are removed when the table has more than this many. */
const entriesKept = 10_000
const refillMs = 1_000

/** Counts the connections of each address, over all listeners of a gateway and across plans. */
export class AddressConnections {
  limits: AddressLimits = { openMax: undefined, newMax: undefined, countedAs: () => undefined }
  readonly #entries = new Map<string, Entry>()
  readonly #now: () => number
  #sweptAtMs = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Addresses in the table. */
  get size(): number {
    return this.#entries.size
  }

  /** Counts a connection; the caller calls the result when it is closed. Undefined: the address has too many. */
  admit(address: string): (() => void) | undefined {
    const { openMax, newMax, countedAs } = this.limits
    const key = openMax === undefined && newMax === undefined ? undefined : countedAs(address)
    if (key === undefined) return () => undefined
    const now = this.#now()
    let entry = this.#entries.get(key)
    if (entry === undefined) {
      this.#sweep(now)
      entry = { open: 0, left: newMax ?? 0, atMs: now }
      this.#entries.set(key, entry)
    }
    if (newMax !== undefined) {
      entry.left = Math.min(newMax, entry.left + ((now - entry.atMs) / refillMs) * newMax)
      entry.atMs = now
      if (entry.left < 1) return undefined
    }
    if (openMax !== undefined && entry.open >= openMax) return undefined
    entry.left -= 1
    entry.open += 1
    const own = entry
    return () => {
      own.open -= 1
      // Without a limit of new ones nothing has to be remembered.
      if (own.open === 0 && this.limits.newMax === undefined && this.#entries.get(key) === own)
        this.#entries.delete(key)
    }
  }

  /** Entries that are full again say nothing. Those with connections stay, so their number is bounded by that of connections. */
  #sweep(now: number): void {
    if (this.#entries.size < entriesKept || now - this.#sweptAtMs < refillMs) return
    this.#sweptAtMs = now
    for (const [key, { open, atMs }] of this.#entries)
      if (open === 0 && now - atMs >= refillMs) this.#entries.delete(key)
  }
}
