import { createToken, type IToken, Lexer, type TokenType } from "chevrotain"
import { BodyScanner, type ConditionBody } from "./condition-body.ts"

/** What a condition's body token carries. */
export type BodyToken = IToken & { readonly payload: ConditionBody }

/** Words that can name a type or relation, and words that can stand where a condition's header wants a name. */
export const name = createToken({ name: "name", pattern: Lexer.NA })
export const conditionName = createToken({ name: "conditionName", pattern: Lexer.NA })
/** A condition's name behind `with`, where the words of the language are taken. */
export const usedCondition = createToken({ name: "usedCondition", pattern: Lexer.NA })
/** `bool`, `string`, … and `map`, `list`: names elsewhere, types in a condition's header. */
export const plainType = createToken({ name: "plainType", pattern: Lexer.NA })
export const containerType = createToken({ name: "containerType", pattern: Lexer.NA })

// Looser than the language: a word that is no name is reported as one word, not cut at its first odd character.
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
// `relation` is a word of its own in OpenFGA's grammar, but nothing is made of it.
const typeWords = ["bool", "string", "int", "uint", "double", "duration", "timestamp", "ipaddress"].map(
  (text) => keyword(text, [name, usedCondition, plainType]),
)
const containerWords = ["map", "list"].map((text) => keyword(text, [name, usedCondition, containerType]))

/** One blank between the words is all OpenFGA takes; more are reported, not misunderstood. */
export const butNot = createToken({
  name: "but not",
  pattern: /but[ \t]+not(?![A-Za-z0-9_./-])/,
  start_chars_hint: ["b"],
})

export const version = createToken({ name: "version", pattern: /[0-9]+\.[0-9]+/ })
export const number = createToken({ name: "number", pattern: /[0-9]+/ })
export const comma = createToken({ name: ",", pattern: "," })
export const colon = createToken({ name: ":", pattern: ":" })
// A class, because chevrotain takes a plain `#` for unreachable behind `comment`, which looks at the character before.
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

/** `#` at the start of a line or after a blank; elsewhere it belongs to `type#relation`. */
const comment = createToken({
  name: "comment",
  pattern: matchComment,
  start_chars_hint: ["#"],
  line_breaks: false,
  group: "comments",
})

// Set for the time of one call of `tokenize`: chevrotain gives a pattern nothing but the text and the offset.
let scanner: BodyScanner | undefined

function matchBody(text: string, offset: number): [string] | null {
  if (text[offset] !== "{" || scanner === undefined) return null
  const payload = scanner.scan(offset)
  return Object.assign([text.slice(offset, payload.end)] as [string], { payload })
}

/** `{ … }` of a condition as one token, so that nothing inside it can disturb what follows. */
export const body = createToken({
  name: "{",
  pattern: matchBody,
  start_chars_hint: ["{"],
  line_breaks: true,
})

const keywords = [model, schema, module, extend, type, relations, define, condition, or, and, from, withWord]

/** All tokens, in the order they are tried. */
export const vocabulary: TokenType[] = [
  blank,
  newline,
  comment,
  body,
  butNot,
  ...keywords,
  // Before `in`: a keyword gives way to a longer plain word only, not to a longer keyword.
  ...typeWords,
  ...reservedWords,
  ...containerWords,
  word,
  version,
  number,
  ...[comma, colon, hash, star, open, close, openList, closeList, less, greater, closeBrace],
  ...[name, conditionName, usedCondition, plainType, containerType],
]

/** Tests validate the patterns, as those of gateway.conf. */
export const lexerConfig = {
  ensureOptimizations: true,
  positionTracking: "onlyOffset",
  skipValidations: true,
} as const

/** Made at the first text, as the parser is. */
let lexer: Lexer | undefined

/** A run of characters that begin no token. */
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
