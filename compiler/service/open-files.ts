import { type Files, type GlobResult, MemoryFiles, type ReadResult } from "../core/files.ts"

/** The files of a project, with the texts of open documents in place of what is stored. Paths are those of `Files`. */
export class OpenFiles implements Files {
  readonly #stored: Files
  readonly #open = new Map<string, string>()

  constructor(stored: Files) {
    this.#stored = stored
  }

  /** The paths of the open documents. */
  get paths(): readonly string[] {
    return [...this.#open.keys()]
  }

  /** The text of an open document. */
  text(path: string): string | undefined {
    return this.#open.get(path)
  }

  /** Returns whether the text is another one than before. */
  set(path: string, text: string): boolean {
    const before = this.#open.get(path)
    this.#open.set(path, text)
    return before !== text
  }

  /** From now on what is stored counts again. */
  delete(path: string): void {
    this.#open.delete(path)
  }

  read(path: string, bytesMax: number): ReadResult {
    return this.#open.has(path) ? this.#memory.read(path, bytesMax) : this.#stored.read(path, bytesMax)
  }

  readAnywhere(path: string, bytesMax: number): ReadResult {
    return this.#open.has(path)
      ? this.#memory.readAnywhere(path, bytesMax)
      : this.#stored.readAnywhere(path, bytesMax)
  }

  /** Open documents that were never stored match, too. */
  glob(pattern: string): GlobResult {
    const { paths, problem } = this.#stored.glob(pattern)
    return { paths: [...new Set([...paths, ...this.#memory.glob(pattern).paths])].sort(), problem }
  }

  get #memory(): MemoryFiles {
    return new MemoryFiles(this.#open)
  }
}
