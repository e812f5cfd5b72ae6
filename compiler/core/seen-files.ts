import type { SourceFile, Span } from "./source.ts"

/** Files of a project by the texts that name them, as `Project` of load.ts has them. */
export interface NamedFiles {
  /** Reads a file that a text names, relative to the folder of that text. Reports at that place why a file can't be read. */
  readNamed(path: string, at: Span, bytesMax?: number): SourceFile | undefined
  /** The files with this ending in the folder of a text and below it. Reports nothing. */
  beside(ending: string, at: Span): readonly SourceFile[]
}

/**
 * Files of which one remembers what was read, so that a later compilation can tell whether it would read the same: what was made of them is
 * the same then.
 */
export class SeenFiles implements NamedFiles {
  readonly #files: NamedFiles
  readonly #seen: ((files: NamedFiles) => boolean)[] = []

  constructor(files: NamedFiles) {
    this.#files = files
  }

  readNamed(path: string, at: Span, bytesMax?: number): SourceFile | undefined {
    const found = this.#files.readNamed(path, at, bytesMax)
    const text = found?.text
    this.#seen.push((files) => isSame(files.readNamed(path, at, bytesMax), found, text))
    return found
  }

  beside(ending: string, at: Span): readonly SourceFile[] {
    const found = this.#files.beside(ending, at)
    const texts = found.map(({ text }) => text)
    this.#seen.push((files) => {
      const now = files.beside(ending, at)
      return now.length === found.length && now.every((file, each) => isSame(file, found[each], texts[each]))
    })
    return found
  }

  /** Reads the same files again from those of a later compilation, which then knows them and reports missing ones. */
  areSame(files: NamedFiles): boolean {
    return this.#seen.map((isSeen) => isSeen(files)).every(Boolean)
  }
}

/** A file can be the same object with another text. */
function isSame(
  now: SourceFile | undefined,
  before: SourceFile | undefined,
  text: string | undefined,
): boolean {
  return now === before && now?.text === text
}
