import type { DiagnosticCode } from "../../core/catalogue.ts"
import type { Extra, Report } from "../../core/diagnostic.ts"
import type { SourceFile } from "../../core/source.ts"

const nameStart = /[A-Za-z_]/
const namePart = /[A-Za-z0-9_.:-]*/y

/** The current position in a document, and facts found while reading. */
export class Cursor {
  readonly file: SourceFile
  readonly text: string
  at = 0
  /** An expression was written in a way that is not valid XML. */
  plain = false
  readonly #report: Report
  #findingsLeft: number
  #damaged = false
  #derailed = false
  #givenUp = false

  constructor(file: SourceFile, report: Report, findingsMax: number) {
    this.file = file
    this.text = file.text
    this.#report = report
    this.#findingsLeft = findingsMax
    if (this.text.startsWith("\ufeff")) this.at = 1
  }

  get done(): boolean {
    return this.at >= this.text.length
  }

  get damaged(): boolean {
    return this.#damaged
  }

  /** Whether reading has stopped. */
  get givenUp(): boolean {
    return this.#givenUp
  }

  giveUp(): void {
    this.#givenUp = true
  }

  /** Reports a mistake that breaks the nesting of elements: all later findings would only follow from it, in the reader and in later steps. */
  derail(start: number, end: number, detail: string, extra: Extra): void {
    this.report("SP7001", start, end, detail, extra)
    this.#derailed = true
  }

  get derailed(): boolean {
    return this.#derailed
  }

  /** Reports a finding, up to the maximum of a file. After the cursor was derailed, findings would only follow from that. */
  report(code: DiagnosticCode, start: number, end: number, detail: string, extra: Extra = {}): void {
    this.#damaged = true
    if (this.#derailed) return
    if (this.#findingsLeft <= 0) {
      this.#givenUp = true
      return
    }
    this.#findingsLeft -= 1
    this.#report.add(
      code,
      this.file.span(start, Math.min(Math.max(start, end), this.text.length)),
      detail,
      extra,
    )
  }

  sees(word: string): boolean {
    return this.text.startsWith(word, this.at)
  }

  takes(word: string): boolean {
    if (!this.sees(word)) return false
    this.at += word.length
    return true
  }

  blanks(): void {
    while (/\s/.test(this.text[this.at] ?? "")) this.at += 1
  }

  find(word: string, from: number): number | undefined {
    const found = this.text.indexOf(word, from)
    return found < 0 ? undefined : found
  }

  /** The name that begins at the current position. */
  name(): string | undefined {
    if (!nameStart.test(this.text[this.at] ?? "")) return undefined
    namePart.lastIndex = this.at
    const found = namePart.exec(this.text)?.[0] ?? ""
    this.at += found.length
    return found
  }
}
