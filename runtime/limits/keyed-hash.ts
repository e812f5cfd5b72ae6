/**
 * HalfSipHash-1-3 with 64 bits of output (Aumasson and Bernstein, "SipHash: a fast short-input PRF"), over the UTF-16 units of a text. Callers choose the
 * keys of limits: without the secret they cannot choose two that have the same hash. The result is in `high` and `low`, so that a hash allocates nothing.
 */
export class KeyedHash {
  high = 0
  low = 0
  readonly #k0: number
  readonly #k1: number

  /** `secret`: two random 32-bit numbers. */
  constructor([k0, k1]: readonly [number, number]) {
    this.#k0 = k0 | 0
    this.#k1 = k1 | 0
  }

  /** Sets `high` and `low` to signed 32-bit numbers; `high` is never 0. */
  of(text: string): void {
    const { length } = text
    // Two units are one block; the last block holds the length and the unit that is left.
    const whole = length >> 1
    const ends = whole + 1 + finalRounds
    let v0 = this.#k0
    let v1 = this.#k1 ^ 0xee
    let v2 = this.#k0 ^ 0x6c796765
    let v3 = this.#k1 ^ 0x74656462
    let first = 0
    for (let round = 0; round < ends + finalRounds; round++) {
      let block = 0
      if (round < whole) block = text.charCodeAt(round * 2) | (text.charCodeAt(round * 2 + 1) << 16)
      else if (round === whole)
        block = (length << 24) | ((length & 1) === 0 ? 0 : text.charCodeAt(length - 1))
      else if (round === whole + 1) v2 ^= 0xee
      else if (round === ends) {
        first = v1 ^ v3
        v1 ^= 0xdd
      }
      v3 ^= block
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= block
    }
    this.high = first === 0 ? 1 : first
    this.low = v1 ^ v3
  }
}

const finalRounds = 3
