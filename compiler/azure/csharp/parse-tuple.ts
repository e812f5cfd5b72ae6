import { reserved, tryType } from "./parse-type.ts"
import type { Parser } from "./parser-state.ts"
import type { DeconstructionTarget, ExpressionSyntax, StatementSyntax, TupleItem } from "./syntax-tree.ts"

/** `(a, name: b)` after its opening bracket. A single expression in brackets is not a tuple. */
export function parseBracketed(parser: Parser, start: number): ExpressionSyntax {
  const items: TupleItem[] = []
  do items.push(parseItem(parser))
  while (parser.tryTake(","))
  parser.expect(")")
  const [only] = items
  if (items.length === 1 && only?.name === undefined)
    return { ...(only?.value as ExpressionSyntax), start, end: parser.end }
  return { kind: "tuple", items, start, end: parser.end }
}

function parseItem(parser: Parser): TupleItem {
  if (parser.token.kind === "name" && parser.isSign(":", 1)) {
    const name = parser.take().text
    parser.take()
    return { name, value: parser.rules.expression(parser) }
  }
  return { value: parser.rules.expression(parser) }
}

/** `var (a, b)`, `(int a, var b)`, `(a, b)`. Undefined when `then` does not follow. */
export function tryParts(parser: Parser, then: "=" | "in"): DeconstructionTarget[] | undefined {
  return parser.attempt(() => {
    const isVar = parser.isWord("var") && parser.isSign("(", 1)
    if (isVar) parser.take()
    if (!parser.tryTake("(")) return undefined
    const parts: DeconstructionTarget[] = []
    do {
      const part = tryPart(parser, isVar)
      if (part === undefined) return undefined
      parts.push(part)
    } while (parser.tryTake(","))
    return parts.length > 1 && parser.tryTake(")") && parser.tryTake(then) ? parts : undefined
  })
}

/** One part of a deconstruction; undefined if this is not one. */
function tryPart(parser: Parser, isVar: boolean): DeconstructionTarget | undefined {
  const { start } = parser.token
  const isName = (): boolean => parser.token.kind === "name" && !reserved.has(parser.token.text)
  const isBare = isName() && (parser.isSign(",", 1) || parser.isSign(")", 1))
  if (isBare) return { name: parser.take().text, declares: isVar, start, end: parser.end }
  const type = isVar ? undefined : tryType(parser)
  if (type === undefined || !isName()) return undefined
  const name = parser.take().text
  return { name, declares: true, ...(type.name === "var" ? {} : { type }), start, end: parser.end }
}

/** `var (a, b) = …;`, or undefined. */
export function parseDeconstruction(parser: Parser): StatementSyntax | undefined {
  const { start } = parser.token
  const parts = tryParts(parser, "=")
  if (parts === undefined) return undefined
  const value = parser.rules.expression(parser)
  parser.expect(";")
  return { kind: "deconstruct", parts, value, start, end: parser.end }
}
