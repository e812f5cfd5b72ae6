import { SealingKey } from "../sealing/sealing-key.ts"

const version = "v1."

/** Encrypts what is stored in the database. */
export class Seal {
  /** Names the key without revealing it: 16 hex digits. */
  readonly keyId: string
  readonly #key: SealingKey

  constructor(secret: string) {
    this.#key = new SealingKey("acme", secret)
    this.keyId = this.#key.id.toString("hex").slice(0, 16)
  }

  /** Identifies a text without revealing it. */
  mark(text: string): string {
    return this.#key.mark(text)
  }

  /** `place`: where the text is stored; the text can only be opened with the same place, so rows cannot be exchanged. */
  close(place: string, text: string): string {
    return `${version}${this.#key.seal(place, text).toString("base64url")}`
  }

  /** @throws Error when the text was made with another key or for another place, or was changed */
  open(place: string, sealed: string): string {
    if (!sealed.startsWith(version)) throw new Error("another version of Sallyport encrypted it")
    const text = this.#key.open(place, Buffer.from(sealed.slice(version.length), "base64url"))
    if (text === undefined) throw new Error("it was encrypted with another key, or changed")
    return text
  }
}
