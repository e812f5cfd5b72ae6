import { createToken, type IToken, Lexer, type TokenType } from "chevrotain"
import { BodyScanner, type ConditionBody } from "./condition-body.ts"

export type BodyToken = IToken & { readonly payload: ConditionBody }

/** Words that can name a type or relation, and words that are allowed where a condition's header needs a name. */
export const name = createToken({ name: "name", pattern: Lexer.NA })
export const conditionName = createToken({ name: "conditionName", pattern: Lexer.NA })
/** The name of a condition after `with`, where keywords are allowed. */
export const usedCondition = createToken({ name: "usedCondition", pattern: Lexer.NA })
/** `bool`, `string`, … and `map`, `list`: names elsewhere, types in the header of a condition. */
export const plainType = createToken({ name: "plainType", pattern: Lexer.NA })
export const containerType = createToken({ name: "containerType", pattern: Lexer.NA })

// Accepts more than the language: an invalid name is reported as one word, not cut at its first invalid character.
export const word = createToken({
  name: "word",
  pattern: /[A-Za-z_][A-Za-z0-9_./-]*/,
  categories: [name, conditionName, usedCondition],
})

function keyword(text: string, categories: TokenType[]): TokenType {
  return createToken({ name: text, pattern: text, longer_alt: word, categories })
}

const [free, reserved] = [[name, conditionName], [conditionName]]
export const model = keyword("model", free)
export const schema = keyword("schema", free)
export const module = keyword("module", free)
export const extend = keyword("extend", free)
export const type = keyword("type", free)
export const relations = keyword("relations", reserved)
export const define = keyword("define", reserved)
export const condition = keyword("condition", reserved)
export const or = keyword("or", reserved)
export const and = keyword("and", reserved)
export const from = keyword("from", reserved)
export const withWord = keyword("with", reserved)
const reservedWords = ["in", "true", "false", "null"].map((text) => keyword(text, reserved))
// `relation` is a keyword in OpenFGA's grammar, but the grammar does not use it.
const typeWords = ["bool", "string", "int", "uint", "double", "duration", "timestamp", "ipaddress"].map(
  (text) => keyword(text, [name, usedCondition, plainType]),
)
const containerWords = ["map", "list"].map((text) => keyword(text, [name, usedCondition, containerType]))

/** OpenFGA allows exactly one space between the words. More spaces are reported, not misread. */
export const butNot = createToken({
  name: "but not",
  pattern: /but[ \t]+not(?![A-Za-z0-9_./-])/,
  start_chars_hint: ["b"],
})

export const version = createToken({ name: "version", pattern: /[0-9]+\.[0-9]+/ })
export const number = createToken({ name: "number", pattern: /[0-9]+/ })
export const comma = createToken({ name: ",", pattern: "," })
export const colon = createToken({ name: ":", pattern: ":" })
// A character class, because chevrotain considers a plain `#` unreachable after `comment`, which checks the character before.
export const hash = createToken({ name: "#", pattern: /[#]/ })
export const star = createToken({ name: "*", pattern: "*" })
export const open = createToken({ name: "(", pattern: "(" })
export const close = createToken({ name: ")", pattern: ")" })
export const openList = createToken({ name: "[", pattern: "[" })
export const closeList = createToken({ name: "]", pattern: "]" })
export const less = createToken({ name: "<", pattern: "<" })
export const greater = createToken({ name: ">", pattern: ">" })
/** A `}` without its `{`. */
export const closeBrace = createToken({ name: "}", pattern: "}" })
export const newline = createToken({ name: "newline", pattern: /\r?\n|\r/, line_breaks: true })

const blank = createToken({ name: "blank", pattern: /[ \t\f\uFEFF]+/, group: Lexer.SKIPPED })

function matchComment(text: string, offset: number): RegExpExecArray | null {
  if (text[offset] !== "#" || (offset > 0 && !/[ \t\f\r\n]/.test(text[offset - 1] as string))) return null
  restOfLine.lastIndex = offset
  return restOfLine.exec(text)
}
const restOfLine = /#[^\r\n]*/y

/** `#` at the start of a line or after white space; elsewhere it is part of `type#relation`. */
const comment = createToken({
  name: "comment",
  pattern: matchComment,
  start_chars_hint: ["#"],
  line_breaks: false,
  group: "comments",
})

// Set during one call of `tokenize`: chevrotain passes only the text and the offset to a pattern.
let scanner: BodyScanner | undefined

function matchBody(text: string, offset: number): [string] | null {
  if (text[offset] !== "{" || scanner === undefined) return null
  const payload = scanner.scan(offset)
  return Object.assign([text.slice(offset, payload.end)] as [string], { payload })
}

/** `{ … }` of a condition as one token, so that its content cannot affect later tokens. */
export const body = createToken({
  name: "{",
  pattern: matchBody,
  start_chars_hint: ["{"],
  line_breaks: true,
})

const keywords = [model, schema, module, extend, type, relations, define, condition, or, and, from, withWord]

/** All tokens, in the order in which the lexer tries them. */
export const vocabulary: TokenType[] = [
  blank,
  newline,
  comment,
  body,
  butNot,
  ...keywords,
  // Before `in`: `longer_alt` of a keyword works only for plain words, not for longer keywords.
  ...typeWords,
  ...reservedWords,
  ...containerWords,
  word,
  version,
  number,
  ...[comma, colon, hash, star, open, close, openList, closeList, less, greater, closeBrace],
  ...[name, conditionName, usedCondition, plainType, containerType],
]

/** Validation is skipped at startup: a test validates the patterns. */
export const lexerConfig = {
  ensureOptimizations: true,
  positionTracking: "onlyOffset",
  skipValidations: true,
} as const

/** Created at the first text, like the parser. */
let lexer: Lexer | undefined

/** A run of characters that begins no token. */
export interface StrangeText {
  readonly start: number
  readonly end: number
}

/** Cuts a text into tokens and the comments between them. Linear, never throws. */
export function tokenize(text: string): {
  readonly tokens: IToken[]
  readonly comments: readonly IToken[]
  readonly strange: readonly StrangeText[]
} {
  lexer ??= new Lexer(vocabulary, lexerConfig)
  scanner = new BodyScanner(text)
  try {
    const { tokens, errors, groups } = lexer.tokenize(text)
    const strange = errors.map(({ offset, length }) => ({ start: offset, end: offset + length }))
    return { tokens, comments: groups["comments"] ?? [], strange }
  } finally {
    scanner = undefined
  }
}

/** Offset after the last character of a token. */
export function endOf(token: IToken): number {
  return token.startOffset + token.image.length
}
