import type { Diagnostic } from "../core/diagnostic.ts"
import type { Span } from "../core/source.ts"

/**
 * Findings as one JSON document. `format` is incremented for incompatible changes. Offsets count UTF-16 units from 0, lines and columns
 * from 1.
 */
export function jsonOfFindings(findings: readonly Diagnostic[]): string {
  const count = (severity: string): number =>
    findings.filter((finding) => finding.severity === severity).length
  const document = {
    format: 1,
    errors: count("error"),
    warnings: count("warning"),
    infos: count("info"),
    findings: findings.map(jsonOfFinding),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

/** One finding as in `jsonOfFindings`, for documents with other content. */
export function jsonOfFinding(finding: Diagnostic): object {
  return {
    severity: finding.severity,
    code: finding.code,
    title: finding.title,
    detail: finding.detail,
    help: finding.help ?? null,
    place: finding.span === undefined ? null : placeOf(finding.span),
    related: finding.related.map(({ span, message }) => ({ message, place: placeOf(span) })),
    // Only where it is safe: a program may apply these edits without a question.
    ...(finding.fix === undefined
      ? {}
      : { fix: finding.fix.map(({ span, text }) => ({ place: placeOf(span), text })) }),
  }
}

function placeOf({ file, start, end }: Span): object {
  return {
    file: file.path,
    start: { ...file.position(start), offset: start },
    end: { ...file.position(end), offset: end },
  }
}
