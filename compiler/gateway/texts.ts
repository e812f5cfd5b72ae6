import { type CelScan, lineOf, type ScanState, scanCel, type TokenProblem } from "./scan.ts"

/** A part of a text as written: literal, or the source of an expression without its `${` and `}`. Empty literals are left out. */
export interface ScannedSegment {
  readonly kind: "literal" | "cel"
  readonly start: number
  readonly end: number
}

/** A quoted text or heredoc as scanned. `end` is the offset after the token. */
export interface TextScan {
  readonly end: number
  readonly pieces: readonly ScannedSegment[]
  readonly problem: TokenProblem | undefined
}

const quotedSpecial = /["\\$\n]/g

/**
 * Scans `"` … `"` on one line, from its opening quote. An unclosed text is cut where the rest of the line most likely contains statements
 * again (`;`, or a brace or comment after whitespace), so that braces stay balanced.
 */
export function scanQuoted(state: ScanState, start: number): TextScan {
  const { text } = state
  const limit = lineOf(state, start).end
  const pieces = new Pieces(start + 1)
  let at = start + 1
  for (;;) {
    quotedSpecial.lastIndex = at
    const found = quotedSpecial.exec(text)
    if (found === null || found.index >= limit) return unclosedText(state, start, limit)
    at = found.index
    if (found[0] === '"') return { end: at + 1, pieces: pieces.finish(at), problem: undefined }
    if (found[0] === "\\") at += 2
    else if (text.startsWith("$${", at)) at += 3
    else if (text[at + 1] !== "{") at++
    else {
      const cel = scanCel(text, at + 2, limit, "}")
      if (cel.failed !== undefined) return unclosedInterpolation(state, start, at, limit)
      pieces.cel(at, cel.end)
      at = cel.end + 1
    }
  }
}

/** Splits the content of a heredoc. After the first `${` that does not close, the rest is literal. */
export function scanContent(text: string, start: number, limit: number): Omit<TextScan, "end"> {
  const pieces = new Pieces(start)
  // Search in a slice: searching `$` in the rest of the file would be quadratic in the number of heredocs.
  const content = text.slice(start, limit)
  for (let at = start; ; ) {
    const dollar = content.indexOf("$", at - start)
    if (dollar === -1) break
    at = start + dollar
    if (text.startsWith("$${", at)) at += 3
    else if (text[at + 1] !== "{" || at + 2 > limit) at++
    else {
      const cel: CelScan = scanCel(text, at + 2, limit, "}")
      if (cel.failed !== undefined) return { pieces: pieces.finish(limit), problem: interpolationProblem(at) }
      pieces.cel(at, cel.end)
      at = cel.end + 1
    }
  }
  return { pieces: pieces.finish(limit), problem: undefined }
}

function interpolationProblem(at: number): TokenProblem {
  return { code: "SP1009", start: at, end: at + 2, detail: "no `}` closes this `${`" }
}

/** A string without its closing quote ends where its argument most likely ends, so that the rest of the line is read. */
function unclosedText(state: ScanState, start: number, limit: number): TextScan {
  const problem: TokenProblem = {
    code: "SP1005",
    start,
    end: start + 1,
    detail: 'this string has no closing `"` on its line',
  }
  const end = cutOfText(state, start, limit)
  return { end, pieces: literal(start + 1, end), problem }
}

/** An interpolation without its `}`. */
function unclosedInterpolation(state: ScanState, start: number, at: number, limit: number): TextScan {
  // The quote that ends the text is most likely followed by a character that can follow an argument.
  const closing = /"(?=[ \t;{}]|$)/.exec(state.text.slice(at, limit))
  const end = closing === null ? cutOfText(state, start, limit) : at + closing.index + 1
  state.budget -= limit - start
  // Keep the part before the `${`; the rest is unknown.
  return {
    end: state.budget < 0 ? limit : end,
    pieces: literal(start + 1, at),
    problem: interpolationProblem(at),
  }
}

function literal(start: number, end: number): ScannedSegment[] {
  return end > start ? [{ kind: "literal", start, end }] : []
}

function cutOfText(state: ScanState, start: number, limit: number): number {
  state.budget -= limit - start
  if (state.budget < 0) return limit
  const found = /;|[ \t][{}#]/.exec(state.text.slice(start + 1, limit))
  return found === null ? limit : start + 1 + found.index
}

/** Collects the parts; literals are the text between the expressions. */
class Pieces {
  readonly #pieces: ScannedSegment[] = []
  #from: number

  constructor(from: number) {
    this.#from = from
  }

  /** Adds the expression whose `${` is at `dollar` and whose `}` is at `close`. */
  cel(dollar: number, close: number): void {
    this.#literal(dollar)
    this.#pieces.push({ kind: "cel", start: dollar + 2, end: close })
    this.#from = close + 1
  }

  finish(end: number): readonly ScannedSegment[] {
    this.#literal(end)
    return this.#pieces
  }

  #literal(end: number): void {
    if (end > this.#from) this.#pieces.push({ kind: "literal", start: this.#from, end })
  }
}

const escapes: Readonly<Record<string, string>> = { '"': '"', "\\": "\\", n: "\n", t: "\t", r: "\r" }
const literalSpecial = /\\(?:u\{[^}"]*\}?|[\s\S]|$)|\$\$\{/g

/**
 * The value of a literal of a quoted text: escapes are resolved, `$${` becomes `${`. Invalid escapes stay as written and are added to
 * `problems`. `start`: where the literal begins in the file.
 */
export function unescaped(raw: string, start: number, problems: TokenProblem[]): string {
  if (!raw.includes("\\") && !raw.includes("$${")) return raw
  return raw.replace(literalSpecial, (match: string, index: number) => {
    if (match === "$${") return "${"
    const at = start + index
    if (match.startsWith("\\u{")) {
      const value = codePoint(match)
      if (value !== undefined) return value
      const detail = `\`${match}\` is not a Unicode character`
      problems.push({ code: "SP1022", start: at, end: at + match.length, detail })
      return match
    }
    const value = escapes[match.slice(1)]
    if (value !== undefined) return value
    problems.push({
      code: "SP1021",
      start: at,
      end: at + match.length,
      detail: `\`${match}\` is not an escape`,
    })
    return match
  })
}

function codePoint(written: string): string | undefined {
  const digits = /^\\u\{([0-9A-Fa-f]{1,6})\}$/.exec(written)?.[1]
  if (digits === undefined) return undefined
  const value = Number.parseInt(digits, 16)
  return value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff) ? undefined : String.fromCodePoint(value)
}

/**
 * The value of a literal of a heredoc: LF line ends, `$${` becomes `${`, and every line that begins in the literal loses up to `indent`
 * leading spaces. `atLineStart` says whether the literal begins a line, which it does not after an expression.
 */
export function dedent(raw: string, indent: number, atLineStart: boolean): string {
  const leading = new RegExp(`\\n[ \\t]{0,${indent}}`, "g")
  const unixed = raw.replaceAll("\r\n", "\n")
  const cut = (atLineStart ? `\n${unixed}` : unixed).replace(leading, "\n")
  return (atLineStart ? cut.slice(1) : cut).replaceAll("$${", () => "${")
}
