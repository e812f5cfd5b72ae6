import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto"

const cipher = "aes-256-gcm"
const ivBytes = 12
const tagBytes = 16

/** Encrypts what is stored in the database (AES-256-GCM), with a key that is made from a secret (HKDF with SHA-256, RFC 5869). */
export class Seal {
  /** Names the key without revealing it: 16 hex digits. */
  readonly keyId: string
  readonly #key: Buffer

  constructor(secret: string) {
    this.#key = Buffer.from(hkdfSync("sha256", secret, "", "sallyport acme encryption", 32))
    const id = hkdfSync("sha256", secret, "", "sallyport acme key id", 32)
    this.keyId = createHash("sha256").update(Buffer.from(id)).digest("hex").slice(0, 16)
  }

  /** Identifies a text without revealing it. */
  mark(text: string): string {
    return createHmac("sha256", this.#key).update(text).digest("base64url")
  }

  /** `place`: where the text is stored; the text can only be opened with the same place, so rows cannot be exchanged. */
  close(place: string, text: string): string {
    const iv = randomBytes(ivBytes)
    const encrypting = createCipheriv(cipher, this.#key, iv).setAAD(Buffer.from(place))
    const encrypted = Buffer.concat([encrypting.update(text, "utf8"), encrypting.final()])
    return `v1.${Buffer.concat([iv, encrypting.getAuthTag(), encrypted]).toString("base64url")}`
  }

  /** @throws Error when the text was made with another key or for another place, or was changed */
  open(place: string, sealed: string): string {
    const bytes = Buffer.from(sealed.replace(/^v1\./, ""), "base64url")
    if (!sealed.startsWith("v1.") || bytes.length < ivBytes + tagBytes)
      throw new Error("another version of Sallyport encrypted it")
    const decrypting = createDecipheriv(cipher, this.#key, bytes.subarray(0, ivBytes), {
      authTagLength: tagBytes,
    })
      .setAAD(Buffer.from(place))
      .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
    return decrypting.update(bytes.subarray(ivBytes + tagBytes), undefined, "utf8") + decrypting.final("utf8")
  }
}
