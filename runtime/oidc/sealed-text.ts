import { SealingKey } from "../sealing/sealing-key.ts"

/** Shorter secrets could be guessed by anybody who has one cookie. */
const secretBytesMin = 32
const idBytes = 4

/** A text that was sealed by one of the keys. `isOld`: not by the first one. */
export interface OpenedText {
  readonly text: string
  readonly isOld: boolean
}

/**
 * Encrypts texts for the browser or for Redis. The keys are derived from secrets: the first one seals, each one opens, so that a secret can be
 * replaced without ending sessions.
 */
export class SealingKeys {
  readonly #keys: readonly SealingKey[]

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
      return new SealingKey(`oidc ${owner}`, text)
    })
  }

  /** The sealed text as base64url: key id, then as `SealingKey.seal`. */
  seal(purpose: string, text: string): string {
    const [first] = this.#keys
    if (first === undefined) throw new Error("there is no key")
    return Buffer.concat([first.id.subarray(0, idBytes), first.seal(purpose, text)]).toString("base64url")
  }

  /** Digests of a text that cannot be guessed without the key, one for each key (base64url). */
  digests(text: string): string[] {
    return this.#keys.map((key) => key.mark(text))
  }

  /** Undefined: it was altered, or sealed with another key or for another purpose. */
  open(purpose: string, sealed: string): OpenedText | undefined {
    if (!/^[A-Za-z0-9_-]+$/.test(sealed)) return undefined
    const bytes = Buffer.from(sealed, "base64url")
    const id = bytes.subarray(0, idBytes)
    const at = this.#keys.findIndex((key) => key.id.subarray(0, idBytes).equals(id))
    const text = this.#keys[at]?.open(purpose, bytes.subarray(idBytes))
    return text === undefined ? undefined : { text, isOld: at > 0 }
  }
}
