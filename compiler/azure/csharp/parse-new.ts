import { parseArguments, parseExpression } from "./parse-expression.ts"
import { expectType } from "./parse-type.ts"
import type { Parser } from "./parser-state.ts"
import type { ExpressionSyntax, Initializer, TypeSyntax } from "./syntax-tree.ts"

/** `new T(…) {…}`, `new T {…}`, `new T[n]`, `new T[] {…}`, `new[] {…}`, `new { … }`, `new(…)`. */
export function parseNew(parser: Parser): ExpressionSyntax {
  const { start } = parser.take()
  if (parser.isSign("{")) return parseAnonymous(parser, start)
  if (parser.isSign("[")) {
    parser.take()
    parser.expect("]")
    return { kind: "array", type: undefined, items: parseItems(parser), start, end: parser.end }
  }
  const type = parser.isSign("(") ? undefined : expectType(parser)
  if (type !== undefined && type.suffix.at(-1) === "[]") {
    const element: TypeSyntax = { ...type, suffix: type.suffix.slice(0, -1) }
    return { kind: "array", type: element, items: parseItems(parser), start, end: parser.end }
  }
  if (type !== undefined && parser.isSign("[")) return parseSized(parser, type, start)
  const args = parser.isSign("(") ? parseArguments(parser, ")") : []
  const init = parser.isSign("{") ? parseInitializer(parser) : undefined
  return { kind: "new", type, args, ...(init === undefined ? {} : { init }), start, end: parser.end }
}

function parseSized(parser: Parser, type: TypeSyntax, start: number): ExpressionSyntax {
  parser.take()
  const size = parseExpression(parser)
  parser.expect("]")
  if (parser.isSign("{")) return { kind: "array", type, items: parseItems(parser), start, end: parser.end }
  return { kind: "array", type, size, start, end: parser.end }
}

/** `{ a, b }` after the `=` of a declared array. */
export function parseArrayItems(parser: Parser, type: TypeSyntax): ExpressionSyntax {
  const { start } = parser.token
  const element: TypeSyntax = { ...type, suffix: type.suffix.slice(0, -1) }
  return { kind: "array", type: element, items: parseItems(parser), start, end: parser.end }
}

/** Items in braces; a comma may follow the last. */
function parseItems(parser: Parser): ExpressionSyntax[] {
  parser.expect("{")
  const items: ExpressionSyntax[] = []
  while (!parser.isSign("}")) {
    items.push(parseExpression(parser))
    if (!parser.tryTake(",")) break
  }
  parser.expect("}")
  return items
}

/** `new { … }`. A member without a name has the last name of its value. */
function parseAnonymous(parser: Parser, start: number): ExpressionSyntax {
  parser.expect("{")
  const fields: { name: string; value: ExpressionSyntax }[] = []
  while (!parser.isSign("}")) {
    const named = parser.token.kind === "name" && parser.isSign("=", 1)
    const name = named ? parser.take().text : undefined
    if (named) parser.take()
    const value = parseExpression(parser)
    const implied = value.kind === "name" || value.kind === "member" ? value.name : undefined
    if (name === undefined && implied === undefined) throw parser.wrong("`Name = ` before the value")
    fields.push({ name: name ?? (implied as string), value })
    if (!parser.tryTake(",")) break
  }
  parser.expect("}")
  return { kind: "anonymous", fields, start, end: parser.end }
}

/** An initializer; a comma may follow the last item. */
function parseInitializer(parser: Parser): Initializer[] {
  parser.expect("{")
  const items: Initializer[] = []
  while (!parser.isSign("}")) {
    items.push(parser.nested(() => parseElement(parser)))
    if (!parser.tryTake(",")) break
  }
  parser.expect("}")
  return items
}

/** An item, an index (`[key] = value`), a property, or several values for `Add`. */
function parseElement(parser: Parser): Initializer {
  const { start } = parser.token
  if (parser.isSign("{")) return { kind: "item", values: parseItems(parser), start, end: parser.end }
  if (parser.isSign("[")) {
    parser.take()
    const keys = [parseExpression(parser)]
    parser.expect("]")
    parser.expect("=")
    return { kind: "index", keys, value: parseExpression(parser), start, end: parser.end }
  }
  if (parser.token.kind === "name" && parser.isSign("=", 1)) {
    const name = parser.take().text
    parser.take()
    return { kind: "member", name, value: parseExpression(parser), start, end: parser.end }
  }
  return { kind: "item", values: [parseExpression(parser)], start, end: parser.end }
}
