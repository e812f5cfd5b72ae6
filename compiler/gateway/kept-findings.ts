import type { Reported } from "../core/diagnostic.ts"
import type { Span } from "../core/source.ts"

/** A place relative to a span of the syntax tree, which moves with the text. */
interface KeptSpan {
  readonly anchor: Span
  readonly start: number
  readonly length: number
}

interface KeptFinding {
  readonly finding: Reported
  readonly span: KeptSpan | undefined
  readonly related: readonly KeptSpan[]
  readonly fix: readonly KeptSpan[]
}

/** A text that names a line is only right until lines before it are added or removed. */
const namesLine = /\bline \d/

/** Findings that stay right while the text around them changes. */
export class KeptFindings {
  readonly #findings: readonly KeptFinding[]

  private constructor(findings: readonly KeptFinding[]) {
    this.#findings = findings
  }

  /** Undefined if a place of a finding is in none of the anchors: it may have changed when the findings are used again. */
  static of(findings: readonly Reported[], anchors: Iterable<Span>): KeptFindings | undefined {
    const kept: KeptFinding[] = []
    for (const finding of findings) {
      if (namesLine.test(`${finding.detail} ${finding.help}`)) return undefined
      const spans = [finding.span, ...finding.related.map(({ span }) => span)]
      const own = spans.map((span) => (span === undefined ? undefined : keptSpan(span, anchors)))
      const fix = (finding.fix ?? []).map(({ span }) => keptSpan(span, anchors))
      if (own.some((each, at) => each === undefined && spans[at] !== undefined)) return undefined
      if (fix.includes(undefined)) return undefined
      const [span, ...related] = own
      kept.push({ finding, span, related: related as KeptSpan[], fix: fix as KeptSpan[] })
    }
    return new KeptFindings(kept)
  }

  /** The findings at their present places. */
  placed(): Reported[] {
    return this.#findings.map(({ finding, span, related, fix }) => ({
      ...finding,
      span: span && placed(span),
      related: finding.related.map((each, at) => ({ ...each, span: placed(related[at] as KeptSpan) })),
      ...(finding.fix === undefined
        ? {}
        : { fix: finding.fix.map((each, at) => ({ ...each, span: placed(fix[at] as KeptSpan) })) }),
    }))
  }
}

function keptSpan(span: Span, anchors: Iterable<Span>): KeptSpan | undefined {
  for (const anchor of anchors)
    if (anchor.file === span.file && anchor.start <= span.start && span.end <= anchor.end)
      return { anchor, start: span.start - anchor.start, length: span.end - span.start }
  return undefined
}

function placed({ anchor, start, length }: KeptSpan): Span {
  const at = anchor.start + start
  return anchor.file.span(at, at + length)
}
