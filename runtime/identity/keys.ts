import { hash, timingSafeEqual } from "node:crypto"

/** A subscription as the gateway knows its caller: its name and what it covers. The name is empty for calls of an open product without a key. */
export interface Subscriber {
  readonly name: string
  readonly product: string | undefined
  readonly api: string | undefined
  /** It opens every API. */
  readonly all?: boolean | undefined
  /** When it began, in milliseconds; undefined where only text says that it is there. */
  readonly sinceMs?: number | undefined
  /** When it ends, in milliseconds; undefined: it does not, or that is not known. */
  readonly untilMs?: number | undefined
  /** Who holds it, as it was issued; undefined where nobody was named. */
  readonly owner?: string | undefined
}

/** Finds the subscription of a key: who it is, or why one that is known does not count, for the log. */
export interface KeyTable {
  /** `look`: nobody used the key, it is only asked about. */
  find(key: string, look?: boolean): Subscriber | string | undefined
  /** False: not all keys are known yet, and of one that is not found nothing can be said. */
  readonly complete: boolean
}

/** Keys that were issued at run time, and may change at any moment. `find` takes the SHA-256 of a key, a character a byte. */
export interface IssuedKeys {
  /** `look`: nobody used the key, it is only asked about. */
  find(
    digest: string,
    look?: boolean,
  ): { readonly digest: Buffer; readonly owner: Subscriber | string } | undefined
  readonly complete: boolean
}

/** Whose a key is, found by the key alone. */
export interface DigestTable<Owner> {
  find(key: string): Owner | undefined
}

/** A key and whose it is; `name` is for messages. */
export interface DigestEntry<Owner> {
  readonly name: string
  readonly key: string
  readonly owner: Owner
}

/** How messages about keys speak of one, and of two that are equal. */
export interface KeyWords {
  readonly one: (name: string) => string
  readonly same: (a: string, b: string) => string
}

/** Longer input is no key: it is refused before it is hashed. */
const keyLengthMax = 512

const subscriptionWords: KeyWords = {
  one: (name) => `the key of subscription \`${name}\``,
  same: (a, b) => `subscriptions \`${a}\` and \`${b}\` have the same key`,
}

/**
 * The keys of subscriptions: those of the text, then those issued. A subscription may have several entries, one for each key.
 * @throws Error naming both subscriptions when two have the same key, or one whose key is empty: neither may start.
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
      const found = table.get(digest) ?? issued.find(digest, look)
      return found !== undefined && isSame(found.digest, digest) ? found.owner : undefined
    },
    get complete() {
      return issued.complete
    },
  }
}

const noneIssued: IssuedKeys = { find: () => undefined, complete: true }

/**
 * Keys are held and compared as SHA-256 digests only: what an attacker can time is the look-up of a digest it cannot steer, and a dump of
 * memory holds no key. @throws Error in `words` when two keys are the same, or one is empty or too long.
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

/** As Latin-1 text, a character a byte: `hash` makes that in a sixth of the time that a hash object and a buffer take. */
function digestOf(key: string): string {
  return hash("sha256", key, "binary")
}
