import { createHmac, randomBytes, scrypt, scryptSync, timingSafeEqual } from "node:crypto"
import { LRUCache } from "lru-cache"

/** A user of the plan: `secret` is the password, or `scrypt:N:r:p:SALT:HASH` with salt and hash in base64url. */
export interface UserEntry {
  readonly user: string
  readonly secret: string
}

/** N of `hashPassword`; r is 8 and p is 1: 16 MB and about 50 ms (RFC 7914 §2). */
export const hashCost = { byDefault: 16_384, min: 1_024, max: 65_536 } as const

/** The hash of a password for `UserEntry.secret`, with a new salt. `cost` is a power of two within `hashCost`. */
export function hashPassword(password: string, cost: number = hashCost.byDefault): string {
  const salt = randomBytes(16)
  const hash = scryptSync(password, salt, 32, { N: cost, r: 8, p: 1, maxmem: 2 * memoryBytesMax })
  return ["scrypt", cost, 8, 1, salt.toString("base64url"), hash.toString("base64url")].join(":")
}

interface Hashed {
  readonly cost: { readonly N: number; readonly r: number; readonly p: number; readonly maxmem: number }
  readonly salt: Buffer
  readonly hash: Buffer
}

/** Memory limit of one computation; RFC 7914 recommends 16 MB for logins. */
const memoryBytesMax = 64 * 1024 * 1024
const parallelMax = 16
/** Concurrent computations: they are slow by design, and share four threads with file and DNS operations. */
const runningMax = 2
const waitingMax = 64
const verifiedMax = 10_000

/** Verifies users and passwords. */
export interface Passwords {
  /** Whether this is the user's password; `busy`: too many requests wait. */
  verify(user: string, password: string): boolean | Promise<boolean | "busy">
  /** Whether the user exists; callers must not learn this. */
  has(user: string): boolean
}

/**
 * Verifies users and passwords without revealing by its duration whether a user exists: an unknown user takes as long as the most expensive one. A
 * verified password is cached by a keyed digest. A wrong one is computed each time, few at a time.
 */
export class UserTable implements Passwords {
  readonly #plain = new Map<string, Buffer>()
  readonly #hashed = new Map<string, Hashed>()
  readonly #dearest: Hashed | undefined
  readonly #key = randomBytes(32)
  // `maxSize` with size 1 limits the number of entries; `max` would reserve 200 KiB for an empty cache.
  readonly #verified = new LRUCache<string, true>({ maxSize: verifiedMax, sizeCalculation: () => 1 })
  readonly #asking = new Map<string, Promise<boolean>>()
  readonly #waiting: (() => void)[] = []
  #running = 0

  /** @throws Error for an unusable hash. */
  constructor(name: string, entries: readonly UserEntry[]) {
    for (const { user, secret } of entries) {
      if (!secret.startsWith("scrypt:")) this.#plain.set(user, this.#digest(secret))
      else {
        const hashed = readHash(secret)
        if (typeof hashed === "string")
          throw new Error(`users \`${name}\`: the hash of \`${user}\` ${hashed}`)
        this.#hashed.set(user, hashed)
      }
    }
    const weight = ({ cost }: Hashed) => cost.N * cost.r * cost.p
    this.#dearest = [...this.#hashed.values()].sort((a, b) => weight(b) - weight(a))[0]
  }

  has(user: string): boolean {
    return this.#plain.has(user) || this.#hashed.has(user)
  }

  verify(user: string, password: string): boolean | Promise<boolean | "busy"> {
    const given = this.#digest(password)
    const plain = this.#plain.get(user)
    const right = timingSafeEqual(given, plain ?? this.#key) && plain !== undefined
    if (right || this.#dearest === undefined) return right
    const key = this.#digest(`${user.length}:${user}${password}`).toString("base64")
    if (this.#verified.get(key) === true) return true
    let asking = this.#asking.get(key)
    if (asking === undefined) {
      if (this.#waiting.length >= waitingMax) return Promise.resolve("busy")
      asking = this.#compute(user, password, this.#dearest)
        .then((found) => {
          if (found) this.#verified.set(key, true)
          return found
        })
        .finally(() => this.#asking.delete(key))
      this.#asking.set(key, asking)
    }
    return asking
  }

  async #compute(user: string, password: string, dearest: Hashed): Promise<boolean> {
    // A finished computation passes its place to the next one.
    if (this.#running >= runningMax) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running += 1
    try {
      const hashed = this.#hashed.get(user)
      const { cost, salt, hash } = hashed ?? dearest
      const found = await derive(password, salt, hash.length, cost)
      return timingSafeEqual(found, hash) && hashed !== undefined
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }

  #digest(text: string): Buffer {
    return createHmac("sha256", this.#key).update(text).digest()
  }
}

function derive(password: string, salt: Buffer, length: number, cost: Hashed["cost"]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, length, cost, (error, found) => (error === null ? resolve(found) : reject(error)))
  })
}

/** The parsed hash, or why it is invalid. */
function readHash(text: string): Hashed | string {
  const parts = /^scrypt:(\d{1,8}):(\d{1,3}):(\d{1,3}):([A-Za-z0-9_-]{8,200}):([A-Za-z0-9_-]{22,200})$/.exec(
    text,
  )
  if (parts === null) return "does not have the form `scrypt:N:r:p:SALT:HASH` (base64url)"
  const [N, r, p] = [Number(parts[1]), Number(parts[2]), Number(parts[3])]
  if (N < 1024 || (N & (N - 1)) !== 0 || r < 1 || p < 1)
    return "has an invalid cost: N must be a power of two of at least 1024, r and p must be at least 1"
  if (128 * N * r > memoryBytesMax || p > parallelMax)
    return "costs more than 64 MB of memory, or p is more than 16"
  const cost = { N, r, p, maxmem: 2 * memoryBytesMax }
  return {
    cost,
    salt: Buffer.from(parts[4] ?? "", "base64url"),
    hash: Buffer.from(parts[5] ?? "", "base64url"),
  }
}
