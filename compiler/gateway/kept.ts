import { SourceFile } from "../core/source.ts"

/**
 * What the compilations of a project in an editor keep for the next one. A part of it is used again only if everything it was made of has
 * the same text, so findings never depend on earlier texts. It holds nothing besides what the present text needs.
 */
export class KeptParts {
  readonly #files = new Map<string, SourceFile>()

  /** The file that an earlier compilation made of the same text, or a new one: what is known of a file is kept by the file. */
  readonly fileOf = (path: string, text: string): SourceFile => {
    const known = this.#files.get(path)
    if (known?.text === text) return known
    const file = new SourceFile(path, text)
    this.#files.set(path, file)
    return file
  }
}
