import type { Scalar } from "yaml"
import type { Diagnostic, Report } from "../core/diagnostic.ts"
import { SourceFile, type Span } from "../core/source.ts"

/** A text embedded in another file: a file of its own, and the places of its parts in the outer file. */
export interface EmbeddedText {
  readonly file: SourceFile
  /** The place in the outer file of a place in `file`. */
  placeOf(span: Span): Span
}

/**
 * The text of a YAML scalar at `at`. In a literal block (`|`) every place maps to its place in the file. For other styles, with escapes or
 * folded lines, findings mark the whole scalar.
 */
export function embeddedText(scalar: Scalar, text: string, at: Span): EmbeddedText {
  // The file name determines the format of the model.
  const ending = text.trimStart().startsWith("{") ? "#model.json" : ""
  const file = new SourceFile(at.file.path + ending, text)
  const starts = scalar.type === "BLOCK_LITERAL" ? lineStarts(scalar, text, at.file) : undefined
  return {
    file,
    placeOf({ start, end }) {
      if (starts === undefined) return at
      const place = (offset: number): number => {
        const { line, column } = file.position(offset)
        return (starts[line - 1] ?? at.start) + column - 1
      }
      return at.file.span(place(start), place(end))
    },
  }
}

/** For each line of the text, the offset in the file where it begins, after the indentation of the block. */
function lineStarts(scalar: Scalar, text: string, file: SourceFile): number[] | undefined {
  const [from = 0] = scalar.range ?? []
  let offset = file.text.indexOf("\n", from) + 1
  const starts: number[] = []
  for (const line of text.split("\n")) {
    const end = file.text.indexOf("\n", offset)
    const written = file.text.slice(offset, end < 0 ? undefined : end).replace(/\r$/, "")
    if (line !== "" && !written.endsWith(line)) return undefined
    starts.push(offset + (line === "" ? 0 : written.length - line.length))
    offset = end < 0 ? file.text.length : end + 1
  }
  return starts
}

/** Adds findings about an embedded text as findings about its outer file. */
export function reportEmbedded(
  findings: readonly Diagnostic[],
  embedded: EmbeddedText,
  report: Report,
): void {
  const placed = (span: Span): Span => (span.file === embedded.file ? embedded.placeOf(span) : span)
  for (const { code, span, detail, help, related } of findings)
    report.add(code, span === undefined ? undefined : placed(span), detail, {
      ...(help === undefined ? {} : { help }),
      related: related.map((each) => ({ span: placed(each.span), message: each.message })),
    })
}
