import { Report, type Reported } from "../core/diagnostic.ts"
import { type NamedFiles, SeenFiles } from "../core/seen-files.ts"
import type { SourceFile } from "../core/source.ts"

interface Read {
  readonly value: unknown
  readonly text: string
  readonly findings: readonly Reported[]
  readonly seen: SeenFiles
}

/** What earlier compilations read from documents. It is used again if the document, and every file that it names, has the same text. */
export class KeptReads {
  readonly #reads = new WeakMap<SourceFile, Map<string, Read>>()

  /** What `make` reads from the file, with its findings. `as`: how it is read. */
  once<Value>(
    file: SourceFile,
    as: string,
    { report, files }: { readonly report: Report; readonly files: NamedFiles },
    make: (report: Report, files: NamedFiles) => Value,
  ): Value {
    const known = this.#reads.get(file)?.get(as)
    if (known !== undefined && known.text === file.text && known.seen.areSame(files)) {
      report.addAll(known.findings)
      return known.value as Value
    }
    const own = new Report()
    const seen = new SeenFiles(files)
    const value = make(own, seen)
    report.addAll(own.reported)
    const reads = this.#reads.get(file) ?? new Map<string, Read>()
    this.#reads.set(file, reads.set(as, { value, text: file.text, findings: own.reported, seen }))
    return value
  }
}
