import { signal } from "@preact/signals"

/** Time that one slice of a search may take, in milliseconds: the page stays responsive. */
const sliceMs = 8
const namesAtOnce = 2_000

/**
 * Names that arrive one after the other, and those of them that contain a text. A search through a million names takes a moment, and ends
 * with the names that arrive last.
 */
export class FoundNames {
  readonly #names: string[] = []
  readonly #now: () => number
  readonly #later: (slice: () => void) => void
  /** Positions of the names that match; undefined: all do. */
  #matches: number[] | undefined
  #text = ""
  #searched = 0
  #isWaiting = false

  /** Changes with each change of what is found. */
  readonly version = signal(0)

  /** The clock and the scheduler are replaced in tests. */
  constructor(
    now: () => number = () => performance.now(),
    later: (slice: () => void) => void = (slice) => void setTimeout(slice),
  ) {
    this.#now = now
    this.#later = later
  }

  /** Number of all names. */
  get all(): number {
    return this.#names.length
  }

  /** Number of the names that match, of those that were searched. */
  get count(): number {
    return this.#matches?.length ?? this.#names.length
  }

  /** Whether all names were searched. */
  get isSearched(): boolean {
    return this.#matches === undefined || this.#searched === this.#names.length
  }

  /** A name that matches, by its position among them. */
  at(index: number): string | undefined {
    return this.#names[this.#matches === undefined ? index : (this.#matches[index] ?? -1)]
  }

  /** Adds names at the end. */
  add(names: readonly string[]): void {
    for (const name of names) this.#names.push(name)
    this.#changed()
  }

  /** Looks for names that contain a text, in any case of letters. */
  search(text: string): void {
    this.#text = text.toLowerCase()
    this.#matches = this.#text === "" ? undefined : []
    this.#searched = 0
    this.#changed()
  }

  #changed(): void {
    this.version.value += 1
    if (this.#isWaiting || this.isSearched) return
    this.#isWaiting = true
    this.#later(() => this.#slice())
  }

  #slice(): void {
    this.#isWaiting = false
    const end = this.#now() + sliceMs
    while (!this.isSearched && this.#now() < end) {
      const until = Math.min(this.#names.length, this.#searched + namesAtOnce)
      for (; this.#searched < until; this.#searched++)
        if (this.#names[this.#searched]?.toLowerCase().includes(this.#text))
          this.#matches?.push(this.#searched)
    }
    this.#changed()
  }
}
