import type { SourceFile, Span } from "../core/source.ts"
import type { Raw } from "./ast.ts"
import { readEntity } from "./reader/characters.ts"

/** A run of text and its position in the file. `fixed`: the whole run maps to one source range (an entity or a named value). */
interface Run {
  readonly at: number
  readonly source: number
  readonly sourceEnd: number
  readonly fixed: boolean
}

/** Text derived from a document: entities decoded, named values inserted. Maps every position back to the file. */
export class SourceText {
  readonly file: SourceFile
  readonly text: string
  readonly #runs: readonly Run[]

  private constructor(file: SourceFile, text: string, runs: readonly Run[]) {
    this.file = file
    this.text = text
    this.#runs = runs
  }

  /** Joins pieces of a file in order: as written, or replaced by `text`. */
  static of(
    file: SourceFile,
    pieces: readonly { readonly start: number; readonly end: number; readonly text?: string }[],
  ): SourceText {
    let text = ""
    const runs: Run[] = []
    for (const piece of pieces) {
      const fixed = piece.text !== undefined
      runs.push({ at: text.length, source: piece.start, sourceEnd: piece.end, fixed })
      text += piece.text ?? file.text.slice(piece.start, piece.end)
    }
    return new SourceText(file, text, runs)
  }

  /** Whether the text equals its source, so that positions in it are offsets from its start. */
  get isVerbatim(): boolean {
    const { start, end } = this.span(0, this.text.length)
    return this.file.text.slice(start, end) === this.text
  }

  /** The source range of a part of the text. */
  span(start: number, end: number): Span {
    const first = this.#runAt(start)
    const last = this.#runAt(Math.max(start, end - 1))
    const from = first === undefined ? 0 : first.fixed ? first.source : first.source + (start - first.at)
    const to = last === undefined ? from : last.fixed ? last.sourceEnd : last.source + (end - last.at)
    return this.file.span(from, Math.max(from, to))
  }

  /** Replaces parts of the text. Positions in a replacement map to the replaced range. */
  replace(
    parts: readonly { readonly start: number; readonly end: number; readonly text: string }[],
  ): SourceText {
    let text = ""
    const runs: Run[] = []
    const keep = (start: number, end: number): void => {
      for (const run of this.#runsIn(start, end)) {
        const from = Math.max(start, run.at)
        const source = run.fixed ? run.source : run.source + (from - run.at)
        runs.push({ ...run, at: text.length + (from - start), source })
      }
      text += this.text.slice(start, end)
    }
    let at = 0
    for (const part of parts) {
      keep(at, part.start)
      const { start, end } = this.span(part.start, part.end)
      runs.push({ at: text.length, source: start, sourceEnd: end, fixed: true })
      text += part.text
      at = part.end
    }
    keep(at, this.text.length)
    return new SourceText(this.file, text, runs)
  }

  #runAt(at: number): Run | undefined {
    return this.#runs.findLast((run) => run.at <= at) ?? this.#runs[0]
  }

  #runsIn(start: number, end: number): Run[] {
    if (start >= end) return []
    return this.#runs.filter((run, index) => {
      const next = this.#runs[index + 1]?.at ?? this.text.length
      return run.at < end && next > start
    })
  }
}

/**
 * The text of a piece of a document, with entities decoded. Exception: in a `plain` document, C# strings that begin with a raw `"` are kept as
 * written, because the author of `&amp;` meant these characters.
 */
export function sourceTextOf(raw: Raw, file: SourceFile, plain: boolean): SourceText {
  if (raw.inner !== undefined) return SourceText.of(file, codePieces(raw.inner, plain))
  if (raw.kind === "markup") return SourceText.of(file, [raw.span])
  const parts = raw.literal ?? [{ span: raw.span, entities: true }]
  return SourceText.of(
    file,
    parts.flatMap(({ span, entities }) => (entities ? textPieces(span) : [span])),
  )
}

type Piece = { start: number; end: number; text?: string }

function textPieces({ file, start, end }: Span): Piece[] {
  const pieces: Piece[] = []
  let from = start
  for (let at = file.text.indexOf("&", start); at >= 0 && at < end; at = file.text.indexOf("&", at + 1)) {
    const entity = readEntity(file.text, at, false)
    if (entity === undefined) continue
    if (at > from) pieces.push({ start: from, end: at })
    pieces.push({ start: at, end: at + entity.length, text: entity.character })
    from = at + entity.length
  }
  if (from < end) pieces.push({ start: from, end })
  return pieces
}

/** Like `textPieces`, but recognises C# strings. */
function codePieces({ file, start, end }: Span, plain: boolean): Piece[] {
  const { text } = file
  const pieces: Piece[] = []
  let from = start
  let inRaw = false
  for (let at = start; at < end; at++) {
    const character = text[at]
    if (plain && character === '"') inRaw = !inRaw
    else if (inRaw && character === "\\") at += 1
    else if (character === "&" && !inRaw) {
      const entity = readEntity(text, at, true)
      if (entity === undefined) continue
      if (at > from) pieces.push({ start: from, end: at })
      pieces.push({ start: at, end: at + entity.length, text: entity.character })
      at += entity.length - 1
      from = at + 1
    }
  }
  if (from < end) pieces.push({ start: from, end })
  return pieces
}
