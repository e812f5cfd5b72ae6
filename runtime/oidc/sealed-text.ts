import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto"

/** Shorter secrets could be guessed by anybody who has one cookie. */
const secretBytesMin = 32
const ivBytes = 12
const tagBytes = 16
const idBytes = 4
const cipher = "aes-256-gcm"

/** A text that was sealed by one of the keys. `isOld`: not by the first one. */
export interface OpenedText {
  readonly text: string
  readonly isOld: boolean
}

interface Key {
  readonly id: Buffer
  readonly bytes: Buffer
  readonly digesting: Buffer
}

/**
 * Encrypts texts for the browser or for Redis (AES-256-GCM). The keys are derived from secrets (HKDF, RFC 5869): the first one seals, each one opens, so
 * that a secret can be replaced without ending sessions. `purpose` is authenticated: what was sealed for one purpose cannot be opened for another.
 */
export class SealingKeys {
  readonly #keys: readonly Key[]

  /**
   * `owner` separates the keys of different owners with equal secrets.
   * @throws Error for a secret that is too short
   */
  constructor(owner: string, secrets: readonly { readonly name: string; readonly text: string }[]) {
    this.#keys = secrets.map(({ name, text }) => {
      const length = Buffer.byteLength(text)
      if (length < secretBytesMin)
        throw new Error(
          `the secret \`${name}\` has ${length} bytes, and the key of a session needs at least ${secretBytesMin}; make one with \`openssl rand -base64 32\``,
        )
      const bytes = Buffer.from(hkdfSync("sha256", text, "", `sallyport oidc ${owner}`, 32))
      const digesting = Buffer.from(hkdfSync("sha256", text, "", `sallyport oidc digest ${owner}`, 32))
      return { id: createHash("sha256").update(bytes).digest().subarray(0, idBytes), bytes, digesting }
    })
  }

  /** The sealed text as base64url: key id, IV, ciphertext, tag. */
  seal(purpose: string, text: string): string {
    const [first] = this.#keys
    if (first === undefined) throw new Error("there is no key")
    // Random IVs are safe for 2^32 texts of one key (NIST SP 800-38D §8.3).
    const iv = randomBytes(ivBytes)
    const sealing = createCipheriv(cipher, first.bytes, iv).setAAD(Buffer.from(purpose))
    const sealed = Buffer.concat([sealing.update(text, "utf8"), sealing.final()])
    return Buffer.concat([first.id, iv, sealed, sealing.getAuthTag()]).toString("base64url")
  }

  /** Digests of a text that cannot be guessed without the key, one for each key (HMAC-SHA-256, base64url). */
  digests(text: string): string[] {
    return this.#keys.map(({ digesting }) => createHmac("sha256", digesting).update(text).digest("base64url"))
  }

  /** Undefined: it was altered, or sealed with another key or for another purpose. */
  open(purpose: string, sealed: string): OpenedText | undefined {
    if (!/^[A-Za-z0-9_-]+$/.test(sealed)) return undefined
    const bytes = Buffer.from(sealed, "base64url")
    if (bytes.length < idBytes + ivBytes + tagBytes) return undefined
    const at = this.#keys.findIndex(({ id }) => id.equals(bytes.subarray(0, idBytes)))
    const key = this.#keys[at]
    if (key === undefined) return undefined
    const opening = createDecipheriv(cipher, key.bytes, bytes.subarray(idBytes, idBytes + ivBytes), {
      authTagLength: tagBytes,
    })
    opening.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-tagBytes))
    try {
      const text = Buffer.concat([
        opening.update(bytes.subarray(idBytes + ivBytes, -tagBytes)),
        opening.final(),
      ])
      return { text: text.toString("utf8"), isOld: at > 0 }
    } catch {
      return undefined
    }
  }
}
