/**
 * A text whose units are counted while a pattern looks at them: some patterns (`a.*b|a`) look at all that is left of a text for each of their matches. RE2JS reads a text by
 * `charCodeAt`, whether it is a value or, as here, an object.
 */
export class CountedText extends String {
  #read = 0
  readonly #most: number
  readonly #tooMuch: () => Error

  /** `tooMuch` is thrown in the middle of a search that would read more than `most` units. */
  constructor(text: string, most: number, tooMuch: () => Error) {
    super(text)
    this.#most = most
    this.#tooMuch = tooMuch
  }

  /** Units looked at so far. */
  get read(): number {
    return this.#read
  }

  override charCodeAt(at: number): number {
    this.#read += 1
    if (this.#read > this.#most) throw this.#tooMuch()
    return super.charCodeAt(at)
  }
}
