import type { DiagnosticCode } from "../core/catalogue.ts"
import { type Extra, Report } from "../core/diagnostic.ts"
import type { Span } from "../core/source.ts"

/** Mistakes of which each has a place, and without which the rest of a document still means something. */
const parts: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>([
  "SP8003",
  "SP8004",
  "SP8005",
  "SP8008",
  "SP8009",
])

/** Tells mistakes in parts of a document as parts that are left out: what `lenient` asks for. */
export class LenientReport extends Report {
  readonly #to: Report

  constructor(to: Report) {
    super()
    this.#to = to
  }

  override add(code: DiagnosticCode, span: Span | undefined, detail: string, extra: Extra = {}): void {
    this.#to.add(parts.has(code) ? "SP8021" : code, span, detail, extra)
  }
}
