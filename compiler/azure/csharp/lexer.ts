import { CsharpMistake, type CsharpScope } from "./source.ts"

/** A part of a string literal: characters, or a named value that is known at run time. */
export type TextPiece = string | { readonly kind: "value" | "secret"; readonly name: string }

/** A hole of an interpolated string: the tokens of its expression (ending with an end token), its width and its format. */
export interface Hole {
  readonly tokens: readonly Token[]
  readonly align: readonly Token[] | undefined
  readonly format: string | undefined
}

/** A token with its place. `parts`: the pieces and holes of an interpolated string. */
export interface Token {
  readonly kind: "name" | "number" | "text" | "char" | "interpolated" | "sign" | "end"
  /** The source text. For strings and characters, `pieces` holds the value. */
  readonly text: string
  readonly start: number
  readonly end: number
  readonly pieces?: readonly TextPiece[]
  readonly parts?: readonly (TextPiece | Hole)[]
}

/** Longer signs come first, because the first match counts. */
const signs = [
  "??=",
  "<<=",
  ">>=",
  "=>",
  "==",
  "!=",
  "<=",
  ">=",
  "&&",
  "||",
  "??",
  "?.",
  "?[",
  "++",
  "--",
  "+=",
  "-=",
  "*=",
  "/=",
  "%=",
  "&=",
  "|=",
  "^=",
  "<<",
  "+",
  "-",
  "*",
  "/",
  "%",
  "=",
  "<",
  ">",
  "!",
  "~",
  "&",
  "|",
  "^",
  "?",
  ":",
  ";",
  ",",
  ".",
  "(",
  ")",
  "[",
  "]",
  "{",
  "}",
] as const

/** Sticky expressions: they match at `lastIndex` only, so a text is never copied. */
const namedPattern = /\{\{([A-Za-z0-9_.-]{1,256})\}\}/y
const namePattern = /@?[\p{L}_][\p{L}\p{N}_]*/uy
const numberPattern =
  // A dot needs a digit behind it: `1.ToString()` is a call.
  /0[xX][0-9A-Fa-f_]+[uUlL]*|0[bB][01_]+[uUlL]*|(?:[0-9][0-9_]*\.?[0-9][0-9_]*|[0-9]|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?[fFdDmMuUlL]*/y
// Comments, and directives that have no effect, count as blanks.
const blankPattern = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/|#(?:region|endregion|pragma)[^\n]*)+/y

/** Maximum nesting of holes. */
const depthMax = 16

/** Splits an expression into tokens, of which the last is an end token. @throws CsharpMistake at the first character that begins no token */
export function tokenize(text: string, scope: CsharpScope): Token[] {
  const lexer: Lexer = { text, at: 0, scope, depth: 0 }
  return readTokens(lexer, () => false)
}

interface Lexer {
  readonly text: string
  at: number
  readonly scope: CsharpScope
  depth: number
}

/** Reads tokens to the end of the text, or to a sign outside brackets for which `stops` returns true. */
function readTokens(lexer: Lexer, stops: (text: string) => boolean): Token[] {
  const tokens: Token[] = []
  let brackets = 0
  for (;;) {
    skip(lexer, blankPattern)
    const start = lexer.at
    if (start >= lexer.text.length) break
    const named = readNamed(lexer)
    if (named !== undefined) {
      tokens.push(...named)
      continue
    }
    const token = readToken(lexer)
    if (token.kind === "sign") {
      // A sign inside of brackets belongs to the inner expression: `{a[b, c]}`.
      if (brackets === 0 && stops(token.text)) {
        lexer.at = start
        break
      }
      if ("([{".includes(token.text) || token.text === "?[") brackets++
      else if (")]}".includes(token.text)) brackets--
    }
    tokens.push(token)
  }
  tokens.push({ kind: "end", text: "", start: lexer.at, end: lexer.at })
  return tokens
}

function skip(lexer: Lexer, pattern: RegExp): string | undefined {
  pattern.lastIndex = lexer.at
  const found = pattern.exec(lexer.text)
  if (found === null) return undefined
  lexer.at = pattern.lastIndex
  return found[0]
}

/** `{{name}}` outside strings: the tokens of the inserted text, all at its place. */
function readNamed(lexer: Lexer): Token[] | undefined {
  const start = lexer.at
  const name = namedAt(lexer, start)
  if (name === undefined) return undefined
  const end = start + name.length + 4
  const known = lexer.scope.namedValue?.(name)
  // An unknown name is left as it is; `{{` can also begin an initializer of a collection.
  if (known === undefined) return undefined
  lexer.at = end
  if ("constant" in known) {
    // Without the scope: a constant that contains `{{name}}` again must not be replaced endlessly.
    const inner = tokenize(known.constant, { section: lexer.scope.section })
    return inner.slice(0, -1).map((token) => ({ ...token, start, end }))
  }
  const kind = "secret" in known ? "secret" : "value"
  throw new CsharpMistake(
    "syntax",
    `the value of \`{{${name}}}\` is only known at runtime, so it cannot be used outside of a string`,
    start,
    end,
    `Put it between quotes and convert it (\`int.Parse("{{${name}}}")\`), or give the ${kind} a value in the configuration.`,
  )
}

function namedAt(lexer: Lexer, at: number): string | undefined {
  if (lexer.scope.namedValue === undefined || !lexer.text.startsWith("{{", at)) return undefined
  namedPattern.lastIndex = at
  return namedPattern.exec(lexer.text)?.[1]
}

/** The next token. Strings come first, since their prefixes are signs too. */
function readToken(lexer: Lexer): Token {
  const { text, at: start } = lexer
  const c = text[start] as string
  const prefix = /^(?:\$@|@\$|\$|@)?"/.exec(text.slice(start, start + 3))?.[0]
  if (prefix !== undefined) return readText(lexer, prefix)
  if (c === "'") return readChar(lexer)
  const number = /[0-9.]/.test(c) ? skip(lexer, numberPattern) : undefined
  if (number !== undefined) return { kind: "number", text: number, start, end: lexer.at }
  const name = skip(lexer, namePattern)
  // `@class` is the name `class`.
  if (name !== undefined) return { kind: "name", text: name.replace("@", ""), start, end: lexer.at }
  const sign = signs.find((candidate) => text.startsWith(candidate, start))
  if (sign === undefined) {
    const escaped = text.startsWith('\\"', start)
    throw new CsharpMistake(
      "syntax",
      escaped ? "a quote has a backslash before it" : `\`${c}\` is not C#`,
      start,
      start + (escaped ? 2 : 1),
      escaped ? 'Write `"` without the backslash, or `&quot;`.' : "Remove it, or put it between quotes.",
    )
  }
  // `a ? .5 : b` is a conditional. `>>` may close two type argument lists, so the parser joins it when it is a shift.
  const taken = sign === "?." && /[0-9]/.test(text[start + 2] ?? "") ? "?" : sign
  lexer.at = start + taken.length
  return { kind: "sign", text: taken, start, end: lexer.at }
}

/** The finding for a string without its closing quote. */
function unclosed(start: number, end: number): CsharpMistake {
  return new CsharpMistake(
    "syntax",
    "the string is not closed",
    start,
    end,
    "Close it with the quote that opens it.",
  )
}

/** A string of any form. Named values (`{{name}}`) are pieces of it: their characters are data and cannot end the string. */
function readText(lexer: Lexer, prefix: string): Token {
  const start = lexer.at
  const [verbatim, interpolated] = [prefix.includes("@"), prefix.includes("$")]
  lexer.at += prefix.length
  const parts: (TextPiece | Hole)[] = []
  let piece = ""
  const flush = (): void => {
    if (piece !== "") parts.push(piece)
    piece = ""
  }
  for (;;) {
    const { text, at } = lexer
    const c = text[at]
    // A line break ends only ordinary strings.
    if (c === undefined || (!verbatim && c === "\n")) throw unclosed(start, at)
    const named = namedAt(lexer, at)
    const known = named === undefined ? undefined : lexer.scope.namedValue?.(named)
    if (known !== undefined) {
      lexer.at += (named as string).length + 4
      if ("constant" in known) piece += known.constant
      else {
        flush()
        parts.push(
          "secret" in known ? { kind: "secret", name: known.secret } : { kind: "value", name: known.value },
        )
      }
    } else if (c === '"') {
      // `""` is a quote in a verbatim string.
      if (!verbatim || text[at + 1] !== '"') break
      piece += '"'
      lexer.at += 2
    } else if (c === "\\" && !verbatim) piece += readEscape(lexer)
    else if (interpolated && (c === "{" || c === "}") && text[at + 1] === c) {
      piece += c
      lexer.at += 2
    } else if (interpolated && c === "{") {
      flush()
      parts.push(readHole(lexer))
    } else {
      piece += c
      lexer.at++
    }
  }
  flush()
  lexer.at++
  const token = { text: lexer.text.slice(start, lexer.at), start, end: lexer.at }
  return interpolated
    ? { kind: "interpolated", ...token, parts }
    : { kind: "text", ...token, pieces: parts as TextPiece[] }
}

/** Simple escapes of C#. */
const escapes: Readonly<Record<string, string>> = {
  "'": "'",
  '"': '"',
  "\\": "\\",
  "0": "\0",
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
}

/** An escape. `\x` takes one to four digits, `\u` four and `\U` eight. */
function readEscape(lexer: Lexer): string {
  // `\x` is greedy in C#, up to four digits.
  const { text, at } = lexer
  const c = text[at + 1] ?? ""
  if (Object.hasOwn(escapes, c)) {
    lexer.at += 2
    return escapes[c] as string
  }
  const hex = { u: /^[0-9A-Fa-f]{4}/, U: /^[0-9A-Fa-f]{8}/, x: /^[0-9A-Fa-f]{1,4}/ }[c]?.exec(
    text.slice(at + 2, at + 10),
  )?.[0]
  const code = hex === undefined ? Number.NaN : Number.parseInt(hex, 16)
  if (hex === undefined || code > 0x10ffff)
    throw new CsharpMistake(
      "syntax",
      `\`\\${c}\` is not an escape of C#`,
      at,
      at + 2,
      'Write `\\\\` for a backslash, or start the string with `@"`.',
    )
  lexer.at += 2 + hex.length
  return String.fromCodePoint(code)
}

/** A hole of an interpolated string: an expression, a width after `,` and a format after `:`. */
function readHole(lexer: Lexer): Hole {
  // The depth grows with each hole, so `$"{$"{…}"}"` ends at a limit.
  const start = lexer.at++
  if (++lexer.depth > depthMax)
    throw new CsharpMistake(
      "limit",
      "strings are nested too deeply",
      start,
      start + 1,
      "Use a variable for the inner string.",
    )
  const tokens = readTokens(lexer, (sign) => [",", ":", "}"].includes(sign))
  let align: Token[] | undefined
  let format: string | undefined
  if (lexer.text[lexer.at] === ",") {
    lexer.at++
    align = readTokens(lexer, (sign) => [":", "}"].includes(sign))
  }
  if (lexer.text[lexer.at] === ":") {
    // A format is text, not tokens: `{now:HH:mm}`.
    const end = lexer.text.indexOf("}", lexer.at)
    if (end < 0) throw unclosed(start, lexer.text.length)
    format = lexer.text.slice(lexer.at + 1, end)
    lexer.at = end
  }
  if (lexer.text[lexer.at] !== "}")
    throw new CsharpMistake(
      "syntax",
      "the `{` in the string is not closed",
      start,
      start + 1,
      "Close it with `}`, or write `{{` for a brace.",
    )
  lexer.at++
  lexer.depth--
  return { tokens, align, format }
}

/** A character. It must be one UTF-16 unit. */
function readChar(lexer: Lexer): Token {
  const start = lexer.at++
  const value = lexer.text[lexer.at] === "\\" ? readEscape(lexer) : (lexer.text[lexer.at++] ?? "")
  // A surrogate pair is two units and no `char` of C#.
  if (lexer.text[lexer.at] !== "'" || value.length !== 1)
    throw new CsharpMistake(
      "syntax",
      "single quotes must contain exactly one character",
      start,
      lexer.at,
      "Use double quotes for a string.",
    )
  lexer.at++
  return { kind: "char", text: lexer.text.slice(start, lexer.at), start, end: lexer.at, pieces: [value] }
}
