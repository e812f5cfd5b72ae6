/**
 * `{ … }` of a condition, found before the lexer sees its content. Braces are balanced; CEL's strings (all quotes and prefixes) and `//`
 * comments are respected. `#` begins a comment at the start of a line or after white space, outside strings. OpenFGA's own tools end the body
 * at the first `}` and cut lines at ` #` even in strings, which breaks valid conditions.
 */
export interface ConditionBody {
  /** Offset after the last character that belongs to the body. */
  readonly end: number
  readonly closed: boolean
  /** Ranges that are not part of the expression, in order: comments and spaces at line ends. */
  readonly cuts: readonly { readonly start: number; readonly end: number }[]
}

/** A line that begins like this can't be CEL: the closing brace before it is missing. */
const nextDefinition =
  /[ \t\f]*(?:condition[ \t]+[A-Za-z_][\w-]*[ \t]*\(|type[ \t]+[A-Za-z_]|extend[ \t]+type\b)/y

/** Whether a line would end the body of a condition before it. */
export function beginsDefinition(line: string): boolean {
  nextDefinition.lastIndex = 0
  return nextDefinition.test(line)
}

/**
 * Finds the ends of bodies in one text. Use one scanner per compilation: it remembers which quotes are unclosed, so that thousands of them do
 * not each cause a scan to the end of the file.
 */
export class BodyScanner {
  readonly #text: string
  readonly #unclosedFrom = new Map<string, number>()

  constructor(text: string) {
    this.#text = text
  }

  /** Reads the body whose `{` is at `offset`. */
  scan(offset: number): ConditionBody {
    const text = this.#text
    const cuts: { start: number; end: number }[] = []
    let depth = 0
    let at = offset
    while (at < text.length) {
      const sign = text[at] as string
      if (sign === "{") depth++
      else if (sign === "}" && --depth === 0) return { end: at + 1, closed: true, cuts }
      else if (sign === "\n" || sign === "\r") {
        // A lone CR stays: without it, the text before and after would become one line.
        addCut(cuts, this.#blanksBefore(at), text.startsWith("\r\n", at) ? at + 1 : at)
        nextDefinition.lastIndex = at + 1
        if (nextDefinition.test(text)) return { end: this.#blanksBefore(at), closed: false, cuts }
      } else if (sign === "#" && this.#beginsComment(at)) {
        const end = this.#lineEnd(at)
        addCut(cuts, this.#blanksBefore(at), end)
        at = end
        continue
      } else if (sign === "/" && text[at + 1] === "/") {
        at = this.#afterSlashes(at)
        continue
      } else if (sign === '"' || sign === "'") {
        at = this.#afterString(at)
        continue
      }
      at++
    }
    return { end: text.length, closed: false, cuts }
  }

  #beginsComment(at: number): boolean {
    return /[ \t\f\r\n]/.test(this.#text[at - 1] ?? "\n")
  }

  #blanksBefore(at: number): number {
    let start = at
    while (start > 0 && /[ \t\f\r]/.test(this.#text[start - 1] as string)) start--
    return start
  }

  #lineEnd(at: number): number {
    const end = this.#text.indexOf("\n", at)
    return end === -1 ? this.#text.length : end
  }

  /** A `//` comment stays in the expression, but ` #` ends it, as everywhere else. */
  #afterSlashes(at: number): number {
    const end = this.#lineEnd(at)
    const hash = this.#text.slice(at, end).search(/[ \t\f]#/)
    return hash === -1 ? end : at + hash + 1
  }

  /** Offset after a string. An unclosed string ends with its line; an unclosed triple-quoted string ends after its opening quotes. */
  #afterString(at: number): number {
    const text = this.#text
    const raw = /(?:^|[^A-Za-z0-9_])(?:[rR][bB]?|[bB]?[rR])$/.test(text.slice(Math.max(0, at - 3), at))
    const sign = text[at] as string
    const single = !text.startsWith(sign.repeat(3), at)
    const quote = single ? sign : sign.repeat(3)
    const known = this.#unclosedFrom.get(quote)
    if (!single && known !== undefined && at >= known) return at + quote.length
    let end = at + quote.length
    while (end < text.length) {
      const next = text[end]
      if (next === "\\" && !raw) end += 2
      else if (single && (next === "\n" || next === "\r")) return end
      else if (text.startsWith(quote, end)) return end + quote.length
      else end++
    }
    if (single) return text.length
    this.#unclosedFrom.set(quote, at)
    return at + quote.length
  }
}

function addCut(cuts: { start: number; end: number }[], start: number, end: number): void {
  const last = cuts.at(-1)
  if (last !== undefined && last.end >= start) last.end = Math.max(last.end, end)
  else if (end > start) cuts.push({ start, end })
}
