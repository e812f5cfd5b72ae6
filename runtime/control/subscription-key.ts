import { hash, randomBytes } from "node:crypto"

/** A key, its digest, and the part that may be shown later. The key itself is not stored. */
export interface SubscriptionKey {
  readonly key: string
  /** SHA-256 in hex. A key is 256 random bits, so its digest needs no salt and no secret. */
  readonly digest: string
  readonly prefix: string
}

const subscriptionMark = "sp_"
/** Begins tokens for the control API. */
const operatorMark = "spt_"
const bodyLength = 43
const checkLength = 6
const shownCharacters = 8
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/**
 * Generates a key: `sp_`, 256 random bits, and six check characters. They reveal a mistyped or cut key, and let secret scanners recognise
 * keys. Letters, digits and `_` only, so that a double click selects the whole key.
 */
export function newSubscriptionKey(): SubscriptionKey {
  return newKey(subscriptionMark)
}

/** Generates a token for the control API; its form is that of a subscription key, with `spt_`. */
export function newOperatorToken(): SubscriptionKey {
  return newKey(operatorMark)
}

function newKey(mark: string): SubscriptionKey {
  const body = `${mark}${base62(BigInt(`0x${randomBytes(32).toString("hex")}`), bodyLength)}`
  const key = body + checkOf(body)
  return { key, digest: keyDigest(key), prefix: key.slice(0, mark.length + shownCharacters) }
}

/** A key from another system. Its prefix is shorter, because the key may be shorter. */
export function describeKey(key: string): SubscriptionKey {
  const shown = looksIssued(key) ? subscriptionMark.length + shownCharacters : 4
  return { key, digest: keyDigest(key), prefix: key.slice(0, shown) }
}

/** SHA-256 of a key in hex, as keys are stored. */
export function keyDigest(key: string): string {
  return hash("sha256", key, "hex")
}

/** Whether a text has the form of `newSubscriptionKey`, with valid check characters. */
export function looksIssued(key: string): boolean {
  return hasForm(key, subscriptionMark)
}

/** Whether a text has the form of `newOperatorToken`, with valid check characters. */
export function looksLikeOperatorToken(key: string): boolean {
  return hasForm(key, operatorMark)
}

function hasForm(key: string, mark: string): boolean {
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
