import { reserved, tryType } from "./parse-type.ts"
import type { Parser } from "./parser-state.ts"
import type { ExpressionSyntax, PatternSyntax } from "./syntax-tree.ts"

/** pattern := conjunction (`or` conjunction)*; the pattern of `is`, `case` and switch expressions. */
export function parsePattern(parser: Parser): PatternSyntax {
  return joined(parser, "or", () => joined(parser, "and", () => parser.nested(() => single(parser))))
}

/** Patterns joined by a word, from left to right. */
function joined(parser: Parser, word: "or" | "and", part: () => PatternSyntax): PatternSyntax {
  let left = part()
  while (parser.isWord(word)) {
    parser.take()
    const right = part()
    left = { kind: word, left, right, start: left.start, end: right.end }
  }
  return left
}

/** A pattern without `and` and `or`. */
function single(parser: Parser): PatternSyntax {
  const { token } = parser
  const { start } = token
  if (parser.isWord("not")) {
    parser.take()
    return { kind: "not", inner: single(parser), start, end: parser.end }
  }
  if (parser.isWord("_")) {
    parser.take()
    return { kind: "any", start, end: parser.end }
  }
  if (parser.isWord("var") && parser.peek(1).kind === "name") {
    parser.take()
    return { kind: "var", name: parser.take().text, start, end: parser.end }
  }
  if (token.kind === "sign" && ["<", ">", "<=", ">="].includes(token.text)) {
    parser.take()
    return { kind: "relation", op: token.text, value: constant(parser), start, end: parser.end }
  }
  const isConstant = token.kind !== "name" || ["true", "false", "null"].includes(token.text)
  if (isConstant) return { kind: "constant", value: constant(parser), start, end: parser.end }
  const type = tryType(parser)
  if (type === undefined) throw parser.wrong("a type or a constant")
  const next = parser.token
  const declares =
    next.kind === "name" &&
    !reserved.has(next.text) &&
    !["when", "and", "or", "switch"].includes(next.text) &&
    !parser.goesOn()
  if (!declares && type.suffix.at(-1) === "?" && !["&&", "||", ")", ";", ","].includes(next.text)) {
    // `x is T ? a : b`: the `?` belongs to the surrounding conditional.
    parser.at--
    return { kind: "type", type: { ...type, suffix: type.suffix.slice(0, -1) }, start, end: parser.end }
  }
  return declares
    ? { kind: "type", type, name: parser.take().text, start, end: parser.end }
    : { kind: "type", type, start, end: parser.end }
}

/** A constant of a pattern. Other expressions need brackets. */
function constant(parser: Parser): ExpressionSyntax {
  const { token } = parser
  if (parser.isSign("-") || parser.isSign("+")) {
    parser.take()
    const on = constant(parser)
    return { kind: "unary", op: token.text, on, start: token.start, end: on.end }
  }
  const literal = parser.rules.literal(parser)
  if (literal !== undefined) return literal
  if (parser.tryTake("(")) {
    const inner = parser.rules.expression(parser)
    parser.expect(")")
    return inner
  }
  throw parser.wrong("a constant")
}
