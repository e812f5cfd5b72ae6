import { catalogue, type DiagnosticCode } from "./catalogue.ts"
import { brief } from "./shown.ts"
import type { SourceFile, Span } from "./source.ts"

/** An `error` prevents a plan, `warning` and `info` do not. */
export type Severity = "error" | "warning" | "info"

/** Another place that belongs to a finding, e.g. the first declaration of a name. */
export interface Related {
  readonly span: Span
  readonly message: string
}

/** One change of a text: `text` replaces the span, which is empty to insert. */
export interface TextEdit {
  readonly span: Span
  readonly text: string
}

/**
 * One finding. `code` and `title` come from the catalogue and never contain text of the user. `detail` says what is wrong here (lower case,
 * no full stop, user text in backticks), `help` how to fix it. `span` is absent only if the finding is not about a place in a text, e.g.
 * for a missing file given on the command line. `fix` is the remedy as edits that do not overlap, if there is only one and it cannot change
 * what the rest of the project means: `validate --fix` applies it without a question.
 */
export interface Diagnostic {
  readonly code: DiagnosticCode
  readonly severity: Severity
  readonly title: string
  readonly detail: string
  readonly span: Span | undefined
  readonly related: readonly Related[]
  readonly help: string | undefined
  readonly fix?: readonly TextEdit[]
}

/** Optional parts of a finding. `help` replaces the catalogue's. */
export interface Extra {
  readonly help?: string
  readonly related?: readonly Related[]
  readonly fix?: readonly TextEdit[] | undefined
  /** The place of another finding of which this one is a consequence. It is then told with that one, which becomes an error if this is one. */
  readonly cause?: Span | undefined
}

/** A finding as reported. */
export interface Reported extends Diagnostic {
  readonly cause?: Span
}

/** Collects the findings of one run. Phases add findings and continue; a mistake of the user never throws. */
export class Report {
  readonly #findings: Reported[]
  readonly #closed = new Set<SourceFile>()

  /** Continues with the findings of an earlier run. */
  constructor(findings: readonly Diagnostic[] = []) {
    this.#findings = [...findings]
  }

  /** Ignores further findings in a file with broken syntax: in later phases they would only be consequences. */
  close(file: SourceFile): void {
    this.#closed.add(file)
  }

  /** Adds a finding of `code` at `span`. */
  add(code: DiagnosticCode, span: Span | undefined, detail: string, extra: Extra = {}): void {
    if (span !== undefined && this.#closed.has(span.file)) return
    const entry = catalogue[code]
    this.#findings.push({
      code,
      severity: entry.severity,
      title: entry.title,
      detail: brief(detail),
      span,
      related: (extra.related ?? []).map(({ span: at, message }) => ({ span: at, message: brief(message) })),
      help: extra.help === undefined ? entry.help : brief(extra.help),
      ...(extra.fix === undefined ? {} : { fix: extra.fix }),
      ...(extra.cause === undefined ? {} : { cause: extra.cause }),
    })
  }

  /** All findings so far, as reported. */
  get reported(): readonly Reported[] {
    return this.#findings
  }

  /** Adds the findings of another run. */
  addAll(findings: readonly Reported[]): void {
    this.#findings.push(...findings)
  }

  /** Whether there is an error. */
  get blocked(): boolean {
    return this.#findings.some((finding) => finding.severity === "error")
  }

  /** Whether there is a finding of this code: a later phase can then leave out what follows from it. */
  has(code: DiagnosticCode): boolean {
    return this.#findings.some((finding) => finding.code === code)
  }

  /** The number of errors so far. */
  get errors(): number {
    return this.#findings.filter((finding) => finding.severity === "error").length
  }

  /**
   * All findings without duplicates: errors before warnings, because an error often causes warnings elsewhere ("unused"); then by file,
   * place and code, those without a place first.
   */
  sorted(): Diagnostic[] {
    const seen = new Set<string>()
    return withConsequences(this.#findings)
      .sort(inOrder)
      .filter((finding) => {
        const key = `${finding.code}|${finding.span?.file.path}|${finding.span?.start}|${finding.span?.end}|${finding.detail}`
        return seen.has(key) ? false : seen.add(key) !== undefined
      })
  }
}

/** Findings with those that follow from them as related places. */
function withConsequences(findings: readonly Reported[]): Diagnostic[] {
  const keyOf = ({ file, start, end }: Span): string => `${file.path}|${start}|${end}`
  const following = new Map<string, Diagnostic[]>()
  for (const { cause, ...finding } of findings) {
    if (cause !== undefined) following.set(keyOf(cause), [...(following.get(keyOf(cause)) ?? []), finding])
  }
  const found = new Set(findings.flatMap(({ cause, span }) => (cause || !span ? [] : [keyOf(span)])))
  return findings.flatMap(({ cause, ...finding }) => {
    if (cause !== undefined) return found.has(keyOf(cause)) ? [] : [finding]
    const after = finding.span === undefined ? undefined : following.get(keyOf(finding.span))
    if (after === undefined) return [finding]
    const severity = severities.find((each) => [finding, ...after].some((one) => one.severity === each))
    const places = after.flatMap(({ span, detail }) =>
      span === undefined ? [] : [{ span, message: detail }],
    )
    return [{ ...finding, severity: severity ?? finding.severity, related: [...finding.related, ...places] }]
  })
}

const severities: readonly Severity[] = ["error", "warning", "info"]

/** By severity, place and code, so that the output does not depend on the order of the phases. */
function inOrder(a: Diagnostic, b: Diagnostic): number {
  const severity = severities.indexOf(a.severity) - severities.indexOf(b.severity)
  if (severity !== 0) return severity
  const pathA = a.span?.file.path ?? ""
  const pathB = b.span?.file.path ?? ""
  if (pathA !== pathB) return pathA < pathB ? -1 : 1
  const place = (a.span?.start ?? 0) - (b.span?.start ?? 0)
  if (place !== 0) return place
  return a.code < b.code ? -1 : a.code > b.code ? 1 : 0
}
