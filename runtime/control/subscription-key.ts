import { hash, randomBytes } from "node:crypto"

/** A new key, its digest, and what may be shown of it afterwards. The key itself is nowhere kept. */
export interface SubscriptionKey {
  readonly key: string
  /** SHA-256 in hex. The key is 256 random bits: nobody finds it by its digest, with or without a key to the digest. */
  readonly digest: string
  readonly prefix: string
}

const mark = "sp_"
const bodyLength = 43
const checkLength = 6
const shownLength = mark.length + 8
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/**
 * Makes a key: `sp_`, 256 random bits, and six characters that tell a mistyped or cut one from a real one (and a scanner of leaked secrets a key from
 * other words). Letters and digits only, so that a double click takes it whole.
 */
export function newSubscriptionKey(): SubscriptionKey {
  const body = `${mark}${base62(BigInt(`0x${randomBytes(32).toString("hex")}`), bodyLength)}`
  return describeKey(body + checkOf(body))
}

/** A key that was made elsewhere. Less of it is shown, for it may be shorter. */
export function describeKey(key: string): SubscriptionKey {
  return { key, digest: keyDigest(key), prefix: key.slice(0, looksIssued(key) ? shownLength : 4) }
}

/** SHA-256 of a key in hex, as keys are stored. */
export function keyDigest(key: string): string {
  return hash("sha256", key, "hex")
}

/** Whether it has the form of `newSubscriptionKey`, check included. */
export function looksIssued(key: string): boolean {
  if (key.length !== mark.length + bodyLength + checkLength || !key.startsWith(mark)) return false
  const body = key.slice(0, -checkLength)
  return key.endsWith(checkOf(body))
}

function checkOf(body: string): string {
  return base62(BigInt(`0x${hash("sha256", body, "hex").slice(0, 8)}`), checkLength)
}

function base62(value: bigint, length: number): string {
  let text = ""
  let rest = value
  for (let index = 0; index < length; index += 1) {
    text = alphabet.charAt(Number(rest % 62n)) + text
    rest /= 62n
  }
  return text
}
