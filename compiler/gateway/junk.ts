import { oddCharacterAt, tellOdd } from "../core/odd-characters.ts"
import { unseen } from "../core/shown.ts"
import { lineOf, quotable, type ScanState, scanCel, type TokenProblem } from "./scan.ts"

/** The detail of a finding for another language's comment marker. */
export function noComment(mark: string): string {
  return `\`${mark}\` does not start a comment: the words after it are read as a statement`
}

/** Characters that form no argument, and the finding about them. `problem` is undefined when they are already reported. */
export interface JunkScan {
  readonly end: number
  readonly problem: TokenProblem | undefined
}

const operator = /(?:[=!<>]=|=>|&&|\|\||[!<>&|?=]+)/y
const typographic = /[\u2018-\u201f\u00ab\u00bb\u2039\u203a]/
const typographicOrComment = new RegExp(`${typographic.source}|[ \\t]#`)
const commentMark = /[ \t]*(\/\/|\/\*|--|<!--)/y
const untilBlank = /[^ \t\r\n;{}"]*/y

// Characters that the parser reports anywhere in the file.
const control = unseen("y")

/** Reads text that begins no other token, as one piece, and suggests what was most likely meant. */
export function scanJunk(state: ScanState, start: number): JunkScan {
  const { text } = state
  const sign = text[start] as string
  control.lastIndex = start
  if (control.test(text)) return { end: control.lastIndex, problem: undefined }
  const odd = oddCharacterAt(text, start)
  if (odd !== undefined) return oddPiece(text, start, odd.kind === "look-alike")
  const comment = foreignComment(state, start)
  if (comment !== undefined) return comment
  if (sign === "'") return singleQuoted(state, start)
  if (typographic.test(sign)) return typographicQuoted(state, start)
  if (sign === "$" && text[start + 1] === "{") return interpolation(state, start)
  if (sign === ",")
    return {
      end: start + 1,
      problem: {
        ...{ code: "SP1012", start, end: start + 1 },
        detail: "`,` is not allowed here: spaces separate arguments",
        fix: [{ start, end: start + 1, put: /[ \t]/.test(text[start + 1] ?? "") ? "" : " " }],
      },
    }
  if (sign === ")") return junk("SP1008", start, start + 1, "no `(` is open here")
  if (sign === "#") return hash(text, start)
  if (text.startsWith("<<", start) && !/[A-Za-z]/.test(text[start + 2] ?? ""))
    return junk("SP1028", start, start + 2, "no tag follows `<<`")
  if (sign === "{") return route(text, start)
  if (text.startsWith("<!--", start)) return { end: lineOf(state, start).end, problem: undefined }
  const touching = start > 0 && !/[\s;{}]/.test(text[start - 1] as string)
  operator.lastIndex = start
  if (!(sign === "?" && touching) && operator.test(text)) {
    const shown = quotable(text.slice(start, operator.lastIndex))
    return junk("SP1014", start, operator.lastIndex, `\`${shown}\` is outside of an expression`)
  }
  return other(text, start)
}

/** A letter of another script, with its word. A space-like or invisible character forms a piece alone. */
function oddPiece(text: string, start: number, inWord: boolean): JunkScan {
  const { detail, help } = tellOdd(text, start) as { detail: string; help: string }
  let end = start + 1
  if (inWord) end = runEnd(text, start)
  else while (["space", "hidden"].includes(oddCharacterAt(text, end)?.kind ?? "")) end++
  const plain = [...text.slice(start, end)].map((sign) => oddCharacterAt(sign, 0)?.plain ?? sign).join("")
  return { end, problem: { code: "SP1035", start, end, detail, help, fix: [{ start, end, put: plain }] } }
}

/** A line that begins like a comment of another language. Nothing on it is read as a statement. */
function foreignComment(state: ScanState, start: number): JunkScan | undefined {
  const { text } = state
  commentMark.lastIndex = lineOf(state, start).start
  const mark = commentMark.exec(text)?.[1]
  if (mark === undefined) return undefined
  const end = text.indexOf("\n", start)
  const at = commentMark.lastIndex - mark.length
  const fix = mark === "//" || mark === "--" ? { fix: [{ start: at, end: at + mark.length, put: "#" }] } : {}
  const problem = {
    code: "SP1036",
    start: at,
    end: at + mark.length,
    detail: noComment(mark),
    ...fix,
  } as const
  return { end: end === -1 ? text.length : end, problem }
}

function junk(code: TokenProblem["code"], start: number, end: number, detail: string): JunkScan {
  return { end, problem: { code, start, end, detail } }
}

/** The string in single quotes is one token, so that it gives one finding and the rest of the line is read. */
function singleQuoted(state: ScanState, start: number): JunkScan {
  const { text } = state
  const closed = quoteEnd(state, start, /'|[ \t]#/)
  const end = closed ?? runEnd(text, start)
  const detail = `\`${quotable(text.slice(start, end))}\` is not a string: strings have double quotes`
  return { end, problem: { code: "SP1010", start, end, detail, ...requoted(text, start, closed) } }
}

/** Plain quotes around a string in other ones, unless its content would then mean something else. */
function requoted(text: string, start: number, closed: number | undefined): Pick<TokenProblem, "fix"> {
  const inner = closed === undefined ? undefined : text.slice(start + 1, closed - 1)
  if (closed === undefined || inner === undefined || /["\\]|\$\{/.test(inner)) return {}
  return { fix: [{ start, end: closed, put: `"${inner}"` }] }
}

function typographicQuoted(state: ScanState, start: number): JunkScan {
  const { text } = state
  const closed = quoteEnd(state, start, typographicOrComment)
  const end = closed ?? runEnd(text, start)
  const detail = `\`${text[start]}\` does not start a string: use \`"\``
  return { end, problem: { code: "SP1011", start, end, detail, ...requoted(text, start, closed) } }
}

/**
 * Offset after the first match of `closing` after the quote at `start`, on the same line and before any comment: an apostrophe in a comment
 * closes nothing.
 */
function quoteEnd(state: ScanState, start: number, closing: RegExp): number | undefined {
  const found = closing.exec(state.text.slice(start + 1, lineOf(state, start).end))
  return found === null || found[0].endsWith("#") ? undefined : start + found.index + 2
}

/** A `${…}` without quotes. It is skipped as a whole, because it may contain any character. */
function interpolation(state: ScanState, start: number): JunkScan {
  const { text } = state
  const limit = lineOf(state, start).end
  const scan = state.budget < 0 ? undefined : scanCel(text, start + 2, limit, "}")
  if (scan === undefined || scan.failed !== undefined) {
    state.budget -= limit - start
    return junk("SP1015", start, start + 2, "this `${` is outside of a string")
  }
  const end = scan.end + 1
  const detail = `\`${quotable(text.slice(start, end))}\` is outside of a string`
  const isWhole = /[\s;{}(]/.test(text[start - 1] ?? " ") && /[\s;}]/.test(text[end] ?? " ")
  const fix = isWhole ? { fix: [{ start, end, put: `"${text.slice(start, end)}"` }] } : {}
  return { end, problem: { code: "SP1015", start, end, detail, ...fix } }
}

function hash(text: string, start: number): JunkScan {
  return junk("SP1017", start, runEnd(text, start), "there is no space before this `#`")
}

/** `{id}` directly after the `/` of a path: everything up to the next whitespace belongs to the path. */
function route(text: string, start: number): JunkScan {
  const tail = /(?:\{\w+\*?\}|[A-Za-z0-9_.:/*@%+~[\]-])+/y
  tail.lastIndex = start
  const end = start + (tail.exec(text)?.[0].length ?? 1)
  const detail = `\`${quotable(text.slice(start, end))}\` is part of a path`
  const from =
    start - (/[A-Za-z0-9_.:/*@%+~[\]-]*$/.exec(text.slice(Math.max(0, start - 200), start))?.[0].length ?? 0)
  const isWhole = /[\s;{}]/.test(text[from - 1] ?? " ") && /[\s;}]/.test(text[end] ?? " ")
  const fix = isWhole ? { fix: [{ start: from, end, put: `"${text.slice(from, end)}"` }] } : {}
  return { end, problem: { code: "SP1034", start, end, detail, ...fix } }
}

function other(text: string, start: number): JunkScan {
  const end = runEnd(text, start)
  const shown = [...text.slice(start, end)][0] as string
  return junk("SP1016", start, end, `\`${shown}\` is not allowed in a bare word`)
}

function runEnd(text: string, start: number): number {
  untilBlank.lastIndex = start + 1
  return start + 1 + (untilBlank.exec(text)?.[0].length ?? 0)
}
