import { Report, type Reported } from "../core/diagnostic.ts"
import type { SourceFile, Span } from "../core/source.ts"

/** Reads a file that a document names. */
type Load = (path: string, at: Span) => SourceFile | undefined

/** A file that was loaded while a document was read, with the text that it had. */
interface Loaded {
  readonly path: string
  readonly at: Span
  readonly file: SourceFile | undefined
  readonly text: string | undefined
}

interface Read {
  readonly value: unknown
  readonly text: string
  readonly findings: readonly Reported[]
  readonly loaded: readonly Loaded[]
}

/** What earlier compilations read from documents. It is used again if the document, and every file that it names, has the same text. */
export class KeptReads {
  readonly #reads = new WeakMap<SourceFile, Map<string, Read>>()

  /** What `make` reads from the file, with its findings. `as`: how it is read. */
  once<Value>(
    file: SourceFile,
    as: string,
    { report, load }: { readonly report: Report; readonly load: Load },
    make: (report: Report, load: Load) => Value,
  ): Value {
    const known = this.#reads.get(file)?.get(as)
    if (known !== undefined && known.text === file.text && isSame(known.loaded, load)) {
      report.addAll(known.findings)
      return known.value as Value
    }
    const own = new Report()
    const loaded: Loaded[] = []
    const value = make(own, (path, at) => {
      const found = load(path, at)
      loaded.push({ path, at, file: found, text: found?.text })
      return found
    })
    report.addAll(own.reported)
    const reads = this.#reads.get(file) ?? new Map<string, Read>()
    this.#reads.set(file, reads.set(as, { value, text: file.text, findings: own.reported, loaded }))
    return value
  }
}

/** Loads the files again: the project must know them, and reports those that are missing. */
function isSame(loaded: readonly Loaded[], load: Load): boolean {
  return loaded
    .map(({ path, at, file, text }) => {
      const found = load(path, at)
      return found === file && found?.text === text
    })
    .every(Boolean)
}
