import type { Hole, TextPiece } from "./lexer.ts"
import { Parser } from "./parser-state.ts"
import { CsharpMistake } from "./source.ts"
import type { ExpressionSyntax } from "./syntax-tree.ts"

/** A literal at the current position, or undefined. */
export function parseLiteral(parser: Parser): ExpressionSyntax | undefined {
  const { token } = parser
  const { start, end } = token
  const made = ((): ExpressionSyntax | undefined => {
    if (token.kind === "number") return numberLiteral(token.text, start, end)
    if (token.kind === "text") return { kind: "text", pieces: token.pieces ?? [], start, end }
    if (token.kind === "char")
      return { kind: "literal", type: "char", value: token.pieces?.[0] as string, start, end }
    if (token.kind !== "name") return undefined
    if (token.text === "true" || token.text === "false")
      return { kind: "literal", type: "bool", value: token.text === "true", start, end }
    return token.text === "null" ? { kind: "literal", type: "null", value: null, start, end } : undefined
  })()
  if (made !== undefined) parser.take()
  return made
}

/** The suffix and the size determine the type: int, uint, long, ulong, or double, float, decimal. */
function numberLiteral(text: string, start: number, end: number): ExpressionSyntax {
  const bare = text.replaceAll("_", "").toLowerCase()
  const isHex = /^0[xb]/.test(bare)
  const [, digits = "", suffix = ""] =
    (isHex ? /^(0x[0-9a-f]+|0b[01]+)([ul]*)$/ : /^([0-9.]+(?:e[+-]?[0-9]+)?)([fdmul]*)$/).exec(bare) ?? []
  if (suffix === "m") return { kind: "literal", type: "decimal", value: digits, start, end }
  if (suffix === "f")
    return { kind: "literal", type: "float", value: String(Math.fround(Number(digits))), start, end }
  if (suffix === "d" || (!isHex && /[.e]/.test(digits)))
    return { kind: "literal", type: "double", value: digits, start, end }
  const value = /^[0-9a-fxb]+$/.test(digits) ? BigInt(digits) : -1n
  const unsigned = suffix.includes("u")
  const long = suffix.includes("l")
  const fits = (bits: bigint): boolean => value < 2n ** bits
  const type =
    !unsigned && !long && fits(31n)
      ? "int"
      : !long && fits(32n)
        ? "uint"
        : !unsigned && fits(63n)
          ? "long"
          : "ulong"
  if (value < 0n || !fits(64n) || !/^(?:|u|l|ul|lu)$/.test(suffix))
    throw new CsharpMistake(
      "syntax",
      `\`${text.slice(0, 40)}\` is not a C# number`,
      start,
      end,
      "Numbers have at most 64 bits and one of the suffixes u, l, ul, f, d, m.",
    )
  return {
    kind: "literal",
    type,
    value: type.endsWith("long") ? value.toString() : Number(value),
    start,
    end,
  }
}

/** `$"a{b,-8:x}c"`: text and expressions alternate. */
export function parseInterpolated(parser: Parser): ExpressionSyntax {
  const token = parser.take()
  const parts = (token.parts ?? []).map((part) => (isHole(part) ? parseHole(part, parser) : part))
  return { kind: "interpolated", parts, start: token.start, end: token.end }
}

function isHole(part: TextPiece | Hole): part is Hole {
  return typeof part === "object" && "tokens" in part
}

/** The tokens of a hole are parsed by a parser of their own, which must read all of them. */
function parseHole(
  { tokens, align, format }: Hole,
  outer: Parser,
): { value: ExpressionSyntax; align?: number; format?: string } {
  const value = parseAll(tokens, outer)
  return {
    value,
    ...(align === undefined ? {} : { align: alignment(align, outer) }),
    ...(format === undefined ? {} : { format }),
  }
}

/** The width of a hole is a constant; a negative one aligns to the left. */
function alignment(tokens: readonly Token[], outer: Parser): number {
  const width = parseAll(tokens, outer)
  const [sign, number] = width.kind === "unary" && width.op === "-" ? [-1, width.on] : [1, width]
  if (number.kind !== "literal" || number.type !== "int")
    throw new CsharpMistake(
      "syntax",
      "the width of a column must be a whole number",
      width.start,
      width.end,
      "Write `{value,10}` or `{value,-10}`.",
    )
  return sign * Number(number.value)
}

type Token = Hole["tokens"][number]

function parseAll(tokens: readonly Token[], outer: Parser): ExpressionSyntax {
  const inner = new Parser(tokens, outer.rules, outer)
  const value = outer.rules.expression(inner)
  if (inner.token.kind !== "end") throw inner.wrong("`}`")
  return value
}
