import type { DiagnosticCode } from "../core/catalogue.ts"
import { type Extra, Report } from "../core/diagnostic.ts"
import type { SourceFile } from "../core/source.ts"
import type { TokenProblem } from "./scan.ts"

/**
 * Findings of the grammar for one file, at most one per line: later mistakes on a line are usually consequences of the first. Statements on
 * such a line are marked broken, so that later phases report nothing about them either.
 */
export class Mistakes {
  readonly file: SourceFile
  /** The codes of all problems, reported or not. */
  readonly codes = new Set<DiagnosticCode>()
  readonly #report: Report
  readonly #lines = new Set<number>()
  /** In ascending order. Adjacent ranges are merged, because a file can consist of braces. */
  readonly #uncertain: { readonly start: number; end: number }[] = []

  constructor(file: SourceFile, report: Report) {
    this.file = file
    this.#report = report
  }

  /** Reports a problem unless its line already has a finding. */
  add(problem: TokenProblem, extra: Extra = {}): void {
    this.codes.add(problem.code)
    const line = this.#lineOf(problem.start)
    if (this.#lines.has(line)) return
    this.#lines.add(line)
    const { code, start, end, detail, help } = problem
    const fix = problem.fix?.map((edit) => ({ span: this.file.span(edit.start, edit.end), text: edit.put }))
    this.#report.add(code, this.file.span(start, end), detail, {
      ...extra,
      ...(help === undefined ? {} : { help }),
      ...(fix === undefined ? {} : { fix }),
    })
  }

  /** Marks a range as uncertain: its content may belong to another block than it seems. Call it in the order of the file. */
  uncertain(start: number, end: number): void {
    const last = this.#uncertain.at(-1)
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end)
    else this.#uncertain.push({ start, end })
  }

  /** Whether the line of `offset` has a finding, or the offset is in an uncertain range. */
  on(offset: number): boolean {
    if (this.#isUncertain(offset)) return true
    return this.#lines.size > 0 && this.#lines.has(this.#lineOf(offset))
  }

  /** The number of findings that `run` would report. */
  trial(run: (mistakes: Mistakes) => unknown): number {
    const report = new Report()
    run(new Mistakes(this.file, report))
    return report.errors
  }

  /** A binary search: ranges are sorted, and there may be one for each line. */
  #isUncertain(offset: number): boolean {
    let low = 0
    let high = this.#uncertain.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#uncertain[middle] as { end: number }).end <= offset) low = middle + 1
      else high = middle
    }
    return (this.#uncertain[low]?.start ?? Number.POSITIVE_INFINITY) <= offset
  }

  #lineOf(offset: number): number {
    return this.file.position(offset).line
  }
}
