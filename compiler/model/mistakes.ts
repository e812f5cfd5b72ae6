import type { Code } from "../core/catalogue.ts"
import { catalogue } from "../core/catalogue.ts"
import type { Extra, Report } from "../core/diagnostic.ts"
import type { SourceFile, Span } from "../core/source.ts"

/** The report of the run, seen from one model: knows whether this model had an error. */
export class Mistakes {
  readonly file: SourceFile
  readonly #report: Report
  #blocked = false

  constructor(file: SourceFile, report: Report) {
    this.file = file
    this.#report = report
  }

  add(code: Code, span: Span, detail: string, extra: Extra = {}): void {
    if (catalogue[code].severity === "error") this.#blocked = true
    this.#report.add(code, span, detail, extra)
  }

  /** Whether an error was found in this model. */
  get blocked(): boolean {
    return this.#blocked
  }
}
