const shown = "a secret"

/**
 * A secret as a value of expressions. Only `hmac` can use it: an expression that does anything else with it is not compiled. Its text is in a private
 * field, so that nothing prints it by accident.
 */
export class SecretKey {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The text of a secret, for `hmac` alone. */
  static textOf(key: SecretKey): string {
    return key.#text
  }

  toString(): string {
    return shown
  }

  toJSON(): string {
    return shown
  }

  /** For Node's `util.inspect`. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return shown
  }
}
