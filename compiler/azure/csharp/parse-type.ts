import type { Parser } from "./parser-state.ts"
import type { TypeSyntax } from "./syntax-tree.ts"

/** Keywords that can be neither types nor names of variables. */
export const reserved = new Set([
  "as",
  "break",
  "case",
  "catch",
  "class",
  "const",
  "continue",
  "default",
  "do",
  "else",
  "false",
  "finally",
  "for",
  "foreach",
  "if",
  "in",
  "is",
  "new",
  "null",
  "out",
  "ref",
  "return",
  "switch",
  "this",
  "throw",
  "true",
  "try",
  "typeof",
  "using",
  "while",
  "goto",
  "lock",
  "base",
])

/** A type at the current position. Returns undefined without an error, because the caller may parse it differently. */
export function tryType(parser: Parser): TypeSyntax | undefined {
  return parser.attempt(() => readType(parser))
}

/** A type; undefined if the tokens are not one. The caller then goes back to where it began. */
function readType(parser: Parser): TypeSyntax | undefined {
  const { start } = parser.token
  if (parser.isSign("(")) {
    const tuple = parser.nested(() => readTuple(parser))
    return tuple && { ...tuple, suffix: readSuffix(parser), start, end: parser.end }
  }
  if (parser.token.kind !== "name" || reserved.has(parser.token.text)) return undefined
  let name = parser.take().text
  let args: TypeSyntax[] = []
  while (parser.isSign(".") && parser.peek(1).kind === "name") {
    parser.take()
    name += `.${parser.take().text}`
  }
  if (parser.isSign("<")) {
    const found = parser.nested(() => tryTypeList(parser))
    if (found === undefined) return undefined
    args = found
  }
  return { name, args, suffix: readSuffix(parser), start, end: parser.end }
}

/** `[]` any number of times, `?` once. */
function readSuffix(parser: Parser): ("[]" | "?")[] {
  const suffix: ("[]" | "?")[] = []
  for (;;) {
    if (parser.isSign("[") && parser.isSign("]", 1)) {
      parser.at += 2
      suffix.push("[]")
    } else if (parser.isSign("?") && !suffix.includes("?")) {
      parser.take()
      suffix.push("?")
    } else return suffix
  }
}

/** `(int a, string)`: at least two types, each with an optional name. */
function readTuple(parser: Parser): Pick<TypeSyntax, "name" | "args" | "fields"> | undefined {
  parser.take()
  const args: TypeSyntax[] = []
  const fields: string[] = []
  do {
    const type = readType(parser)
    if (type === undefined) return undefined
    args.push(type)
    fields.push(parser.token.kind === "name" ? parser.take().text : "")
  } while (parser.tryTake(","))
  if (args.length < 2 || !parser.tryTake(")")) return undefined
  return { name: "ValueTuple", args, ...(fields.every((name) => name === "") ? {} : { fields }) }
}

/** `<A, B>`. Undefined when it is not a list of types. */
export function tryTypeList(parser: Parser): TypeSyntax[] | undefined {
  return parser.attempt(() => {
    parser.expect("<")
    const types: TypeSyntax[] = []
    do {
      const type = readType(parser)
      if (type === undefined) return undefined
      types.push(type)
    } while (parser.tryTake(","))
    return parser.tryTake(">") ? types : undefined
  })
}

export function expectType(parser: Parser): TypeSyntax {
  const type = tryType(parser)
  if (type === undefined) throw parser.wrong("a type")
  return type
}
