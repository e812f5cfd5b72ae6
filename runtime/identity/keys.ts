import { hash, timingSafeEqual } from "node:crypto"

/** The subscription of a caller: its name and its scope. The name is empty for calls of an open product without a key. */
export interface Subscriber {
  readonly name: string
  readonly product: string | undefined
  readonly api: string | undefined
  /** It opens every API. */
  readonly all?: boolean | undefined
  /** When it started, in milliseconds; undefined if it is only declared in the configuration. */
  readonly sinceMs?: number | undefined
  /** When it ends, in milliseconds; undefined if it does not end, or if that is unknown. */
  readonly untilMs?: number | undefined
  /** Its owner, as issued; undefined if none was named. */
  readonly owner?: string | undefined
}

/** Finds the subscription of a key, or the reason why a known key is not valid, for the log. */
export interface KeyTable {
  /** `look`: only a query, not a use of the key. */
  find(key: string, look?: boolean): Subscriber | string | undefined
  /** False: not all keys are loaded yet, so an unknown key may be valid. */
  readonly complete: boolean
}

/** Keys issued at run time, which can change at any time. `find` takes the SHA-256 of a key as text with one character per byte. */
export interface IssuedKeys {
  /** `look`: only a query, not a use of the key. */
  find(digest: string, look?: boolean): Subscriber | string | undefined
  readonly complete: boolean
}

/** Finds the owner of a key. */
export interface DigestTable<Owner> {
  find(key: string): Owner | undefined
}

/** A key and its owner; `name` is for messages. */
export interface DigestEntry<Owner> {
  readonly name: string
  readonly key: string
  readonly owner: Owner
}

/** Words for messages about one key, and about two equal keys. */
export interface KeyWords {
  readonly one: (name: string) => string
  readonly same: (a: string, b: string) => string
}

/** Longer input is rejected before it is hashed. */
const keyLengthMax = 512

const subscriptionWords: KeyWords = {
  one: (name) => `the key of subscription \`${name}\``,
  same: (a, b) => `subscriptions \`${a}\` and \`${b}\` have the same key`,
}

/**
 * The keys of subscriptions: first those of the configuration, then the issued ones. A subscription can have several entries, one for each key.
 * @throws Error that names both subscriptions if two have the same key, or a subscription with an empty key.
 */
export function createKeyTable(
  entries: readonly { readonly subscriber: Subscriber; readonly key: string }[],
  issued: IssuedKeys = noneIssued,
): KeyTable {
  const table = digestMap(
    entries.map(({ subscriber, key }) => ({ name: subscriber.name, key, owner: subscriber })),
    subscriptionWords,
  )
  return {
    find(key, look) {
      if (!isPossible(key)) return undefined
      const digest = digestOf(key)
      const found = table.get(digest)
      if (found === undefined) return issued.find(digest, look)
      return isSame(found.digest, digest) ? found.owner : undefined
    },
    get complete() {
      return issued.complete
    },
  }
}

const noneIssued: IssuedKeys = { find: () => undefined, complete: true }

/**
 * Keys are stored and compared only as SHA-256 digests: an attacker can only time the look-up of a digest, which they cannot control, and a memory dump
 * contains no key. @throws Error in `words` if two keys are equal, or one is empty or too long.
 */
export function createDigestTable<Owner>(
  entries: readonly DigestEntry<Owner>[],
  words: KeyWords,
): DigestTable<Owner> {
  const table = digestMap(entries, words)
  return {
    find(key) {
      if (!isPossible(key)) return undefined
      const digest = digestOf(key)
      const found = table.get(digest)
      return found !== undefined && isSame(found.digest, digest) ? found.owner : undefined
    },
  }
}

interface Held<Owner> {
  readonly digest: Buffer
  readonly name: string
  readonly owner: Owner
}

function digestMap<Owner>(
  entries: readonly DigestEntry<Owner>[],
  words: KeyWords,
): ReadonlyMap<string, Held<Owner>> {
  const table = new Map<string, Held<Owner>>()
  for (const { name, key, owner } of entries) {
    if (key === "") throw new Error(`${words.one(name)} is empty`)
    if (key.length > keyLengthMax)
      throw new Error(`${words.one(name)} is longer than ${keyLengthMax} characters`)
    const digest = digestOf(key)
    const other = table.get(digest)
    if (other !== undefined) throw new Error(words.same(other.name, name))
    table.set(digest, { digest: Buffer.from(digest, "latin1"), name, owner })
  }
  return table
}

function isPossible(key: string): boolean {
  return key !== "" && key.length <= keyLengthMax
}

function isSame(held: Buffer, digest: string): boolean {
  return timingSafeEqual(held, Buffer.from(digest, "latin1"))
}

/** As Latin-1 text with one character per byte: `hash` takes a sixth of the time of a hash object and a buffer. */
function digestOf(key: string): string {
  return hash("sha256", key, "binary")
}
