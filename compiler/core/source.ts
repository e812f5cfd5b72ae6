/** A half-open range of UTF-16 offsets in one file. Every node and finding has one; lines and columns are computed only for output. */
export interface Span {
  readonly file: SourceFile
  readonly start: number
  readonly end: number
}

/** A place for people: line and column start at 1, columns count UTF-16 units (like editors). */
export interface Position {
  readonly line: number
  readonly column: number
}

/** A text file. `path` is relative to the project's root, with `/` on every system, and is shown in findings. */
export class SourceFile {
  readonly path: string
  readonly text: string
  #lineStarts: number[] | undefined

  constructor(path: string, text: string) {
    this.path = path
    this.text = text
  }

  /**
   * Changes the text in place, for a compiler that keeps what it made of the unchanged parts. The caller moves the spans behind the change.
   */
  rewrite(text: string): void {
    // Everyone else only reads the text.
    ;(this as { text: string }).text = text
    this.#lineStarts = undefined
  }

  /** The span from `start` to `end` (exclusive). */
  span(start: number, end: number): Span {
    return { file: this, start, end }
  }

  /** Line and column of an offset. A lone CR does not end a line: editors and LSP disagree about it, and gateway.conf refuses CR. */
  position(offset: number): Position {
    const starts = this.#starts()
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] as number) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - (starts[low] as number) + 1 }
  }

  /** The offset of a place; the end of its line, or of the file, for a place after it. */
  offset({ line, column }: Position): number {
    const starts = this.#starts()
    const start = starts[line - 1]
    if (start === undefined) return this.text.length
    const end = starts[line]
    return Math.min(start + column - 1, end === undefined ? this.text.length : end - 1)
  }

  /** Text of a line (1-based) without its line end; empty after the end of the file. */
  line(number: number): string {
    const starts = this.#starts()
    const start = starts[number - 1]
    if (start === undefined) return ""
    const end = starts[number]
    const until = end === undefined ? this.text.length : end - 1
    return this.text.slice(start, until > start && this.text[until - 1] === "\r" ? until - 1 : until)
  }

  /** The offsets of lines, computed when a position is first asked for: most files have no finding. */
  #starts(): number[] {
    if (this.#lineStarts === undefined) {
      const starts = [0]
      for (let at = this.text.indexOf("\n"); at !== -1; at = this.text.indexOf("\n", at + 1))
        starts.push(at + 1)
      this.#lineStarts = starts
    }
    return this.#lineStarts
  }
}

/** Text of a span. */
export function textOf(span: Span): string {
  return span.file.text.slice(span.start, span.end)
}
