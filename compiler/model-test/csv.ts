import type { SourceFile, Span } from "../core/source.ts"

/** A field of a CSV file, unquoted. */
export interface CsvField {
  readonly text: string
  readonly span: Span
}

/** The mistake that ended the reading early. */
export interface CsvMistake {
  readonly span: Span
  readonly detail: string
}

/**
 * The records of a CSV file (RFC 4180: `""` is a quote inside quotes, and quoted fields may contain line ends). Empty lines are skipped.
 * Reading stops at the first mistake, because from there on it is unclear which quotes belong together.
 */
export function readCsv(file: SourceFile): {
  readonly records: readonly (readonly CsvField[])[]
  readonly mistake: CsvMistake | undefined
} {
  const { text } = file
  const records: CsvField[][] = []
  let record: CsvField[] = []
  const endRecord = (): void => {
    if (record.length > 1 || record[0]?.text !== "") records.push(record)
    record = []
  }
  for (let at = 0; at < text.length; ) {
    const quoted = text[at] === '"'
    const end = quoted ? endOfQuotes(text, at) : endOfPlain(text, at)
    if (end === undefined)
      return { records, mistake: { span: file.span(at, at + 1), detail: "this quote is not closed" } }
    const raw = text.slice(at, end)
    const next = text.slice(end).match(/^(?:,|\r?\n|$)/)?.[0]
    if (next === undefined || (!quoted && raw.includes('"'))) {
      const detail = quoted
        ? "a closing quote must be followed by `,` or the end of the line"
        : "a field without quotes contains a quote"
      return { records, mistake: { span: file.span(at, end), detail } }
    }
    record.push({
      text: quoted ? raw.slice(1, -1).replaceAll('""', '"') : raw,
      span: file.span(at, end),
    })
    at = end + next.length
    if (next === "," && at === text.length) record.push({ text: "", span: file.span(at, at) })
    if (next !== ",") endRecord()
  }
  if (record.length > 0) endRecord()
  return { records, mistake: undefined }
}

function endOfPlain(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const sign = text[at]
    if (sign === "," || sign === "\n" || (sign === "\r" && text[at + 1] === "\n")) return at
  }
  return text.length
}

/** The offset after the quote that closes the one at `start`. */
function endOfQuotes(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] !== '"') continue
    if (text[at + 1] !== '"') return at + 1
    at++
  }
  return undefined
}
