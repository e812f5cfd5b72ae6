import type { DiagnosticCode } from "../core/catalogue.ts"
import { catalogue } from "../core/catalogue.ts"
import type { Extra, Report } from "../core/diagnostic.ts"
import { didYouMean } from "../core/nearest.ts"
import type { SourceFile, Span } from "../core/source.ts"

/** Maximum number of comparisons when searching for similar names. It bounds the cost of a model with thousands of unknown names. */
const comparisonsMax = 100_000

interface State {
  blocked: boolean
  comparisons: number
}

/** The report of the run, limited to one model: it knows whether any file of this model had an error. */
export class ModelMistakes {
  readonly file: SourceFile
  readonly #report: Report
  readonly #state: State

  constructor(file: SourceFile, report: Report, state: State = { blocked: false, comparisons: 0 }) {
    this.file = file
    this.#report = report
    this.#state = state
  }

  /** The same object for another file of the model. */
  in(file: SourceFile): ModelMistakes {
    return new ModelMistakes(file, this.#report, this.#state)
  }

  add(code: DiagnosticCode, span: Span, detail: string, extra: Extra = {}): void {
    if (catalogue[code].severity === "error") this.#state.blocked = true
    this.#report.add(code, span, detail, extra)
  }

  /** Same as `add`, for an unknown name: suggests the nearest known name if one is similar enough. */
  addUnknown(
    code: DiagnosticCode,
    span: Span,
    detail: string,
    name: string,
    known: Iterable<string>,
    extra: Extra = {},
  ): void {
    const candidates = this.#state.comparisons > comparisonsMax ? [] : [...known]
    this.#state.comparisons += candidates.length
    this.add(code, span, detail + didYouMean(name, candidates), extra)
  }

  /** Whether an error was found in this model. */
  get blocked(): boolean {
    return this.#state.blocked
  }
}
