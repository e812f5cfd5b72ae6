import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto"

const cipher = "aes-256-gcm"
const ivBytes = 12
const tagBytes = 16

/** A key that encrypts texts which are stored outside of the process (AES-256-GCM). It is derived from a secret (HKDF with SHA-256, RFC 5869). */
export class SealingKey {
  /** Names the key without revealing it: 32 bytes. */
  readonly id: Buffer
  readonly #bytes: Buffer
  readonly #marking: Buffer

  /** `owner` separates the keys of different owners with equal secrets. */
  constructor(owner: string, secret: string) {
    const derived = (purpose: string) =>
      Buffer.from(hkdfSync("sha256", secret, "", `sallyport ${purpose}${owner}`, 32))
    this.#bytes = derived("")
    this.#marking = derived("mark ")
    this.id = createHash("sha256").update(this.#bytes).digest()
  }

  /** Identifies a text, which cannot be guessed without the key (HMAC with SHA-256): base64url. */
  mark(text: string): string {
    return createHmac("sha256", this.#marking).update(text).digest("base64url")
  }

  /** IV, ciphertext and tag. `purpose` is authenticated: what was sealed for one purpose cannot be opened for another. */
  seal(purpose: string, text: string): Buffer {
    // Random IVs are safe for 2^32 texts of one key (NIST SP 800-38D §8.3).
    const iv = randomBytes(ivBytes)
    const sealing = createCipheriv(cipher, this.#bytes, iv).setAAD(Buffer.from(purpose))
    const sealed = Buffer.concat([sealing.update(text, "utf8"), sealing.final()])
    return Buffer.concat([iv, sealed, sealing.getAuthTag()])
  }

  /** Undefined: it was altered, or sealed with another key or for another purpose. */
  open(purpose: string, sealed: Buffer): string | undefined {
    if (sealed.length < ivBytes + tagBytes) return undefined
    const opening = createDecipheriv(cipher, this.#bytes, sealed.subarray(0, ivBytes), {
      authTagLength: tagBytes,
    })
    opening.setAAD(Buffer.from(purpose)).setAuthTag(sealed.subarray(-tagBytes))
    try {
      const text = [opening.update(sealed.subarray(ivBytes, -tagBytes)), opening.final()]
      return Buffer.concat(text).toString("utf8")
    } catch {
      return undefined
    }
  }
}
