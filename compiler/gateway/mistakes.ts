import type { Extra, Report } from "../core/diagnostic.ts"
import type { SourceFile } from "../core/source.ts"
import type { Problem } from "./scan.ts"

/**
 * Findings of the grammar for one file. A line gets one: what is odd behind the first mistake on a line is mostly its
 * consequence. Statements on such a line are marked broken, so that later phases do not go on about them either.
 */
export class Mistakes {
  readonly file: SourceFile
  readonly #report: Report
  readonly #lines = new Set<number>()

  constructor(file: SourceFile, report: Report) {
    this.file = file
    this.#report = report
  }

  /** Reports a problem unless its line has one. */
  add(problem: Problem, extra: Extra = {}): void {
    const line = this.#lineOf(problem.start)
    if (this.#lines.has(line)) return
    this.#lines.add(line)
    const { code, start, end, detail, help } = problem
    this.#report.add(
      code,
      this.file.span(start, end),
      detail,
      help === undefined ? extra : { ...extra, help },
    )
  }

  /** Whether the line of `offset` has a finding. */
  on(offset: number): boolean {
    return this.#lines.size > 0 && this.#lines.has(this.#lineOf(offset))
  }

  #lineOf(offset: number): number {
    return this.file.position(offset).line
  }
}
