import { Environment as Library, ParseError } from "@marcbachmann/cel-js"
import { convertTree, TreeError } from "./convert-tree.ts"
import type { ExpressionFinding } from "./finding.ts"
import type { TreeNode } from "./syntax-tree.ts"

/** Longest expression in UTF-16 units. */
export const sourceLengthMax = 16 * 1024
const nestingMax = 100
const nodesMax = 5000

const library = new Library({
  unlistedVariablesAreDyn: true,
  limits: {
    maxAstNodes: nodesMax,
    maxDepth: nestingMax,
    maxListElements: 2000,
    maxMapEntries: 2000,
    maxCallArguments: 32,
  },
})

export type Parsed =
  | { readonly ok: true; readonly tree: TreeNode }
  | { readonly ok: false; readonly finding: ExpressionFinding }

const tokenTexts: Readonly<Record<string, string>> = {
  EOF: "the end of the expression",
  NUMBER: "a number",
  STRING: "a text",
  BYTES: "a text",
  BOOLEAN: "`true` or `false`",
  NULL: "`null`",
  IDENTIFIER: "a name",
  PLUS: "`+`",
  MINUS: "`-`",
  MULTIPLY: "`*`",
  DIVIDE: "`/`",
  MODULO: "`%`",
  EQ: "`==`",
  NE: "`!=`",
  LT: "`<`",
  LE: "`<=`",
  GT: "`>`",
  GE: "`>=`",
  AND: "`&&`",
  OR: "`||`",
  NOT: "`!`",
  IN: "`in`",
  LPAREN: "`(`",
  RPAREN: "`)`",
  LBRACKET: "`[`",
  RBRACKET: "`]`",
  LBRACE: "`{`",
  RBRACE: "`}`",
  DOT: "`.`",
  COMMA: "`,`",
  COLON: "`:`",
  QUESTION: "`?`",
}

function unexpected(found: string, expected: string): string {
  const wanted = expected === "" ? "" : `${expected} expected, `
  return found === "EOF" ? `${wanted}but the expression ends` : `${wanted}\`${found}\` found`
}

/** The message for an error code of the parser, without its words. `part` is the source under the error. */
function describe(code: string, summary: string, part: string): string {
  const token = /([A-Z]+), got ([A-Z]+)$/.exec(summary)
  if (code === "expected_token" && token !== null) {
    return unexpected(token[2] === "EOF" ? "EOF" : part, tokenTexts[token[1] ?? ""] ?? "something else")
  }
  if (code === "unexpected_token") return unexpected(summary.endsWith("EOF") ? "EOF" : part, "a value")
  switch (code) {
    case "unexpected_character":
      return singles[part] ?? `\`${part}\` has no place here`
    case "reserved_identifier":
      return `\`${part}\` is a reserved word`
    case "newline_in_string":
      return "a text in single quotation marks ends on its line; use three marks for several lines"
    case "unterminated_string":
    case "unterminated_triple_quoted_string":
      return "the text is not closed"
    case "invalid_number":
    case "invalid_integer":
    case "invalid_hex_integer":
    case "invalid_exponent":
      return `\`${part}\` is not a number`
    case "invalid_macro_argument":
      return "a name is expected here"
    case "has_invalid_argument":
      return "`has` takes a field: `has(a.b)`"
    default:
      return code.includes("escape") || code.includes("surrogate")
        ? `\`${part}\` is not an escape`
        : "this is not an expression"
  }
}

const singles: Readonly<Record<string, string>> = {
  "=": "`=` compares nothing; write `==`",
  "&": "`&` is no operator; write `&&`",
  "|": "`|` is no operator; write `||`",
}

function limitFinding(message: string, start: number, end: number): Parsed {
  return { ok: false, finding: { kind: "limit", message, start, end } }
}

function failed(source: string, error: unknown): Parsed {
  if (error instanceof TreeError) {
    const { kind, message, start, end } = error
    return { ok: false, finding: { kind, message, start, end } }
  }
  if (!(error instanceof ParseError)) {
    // The parser recurses in chains like `!!!!…`, which its own limit does not count: the stack is the limit then.
    return limitFinding("the expression is nested too deeply", 0, source.length)
  }
  const start = Math.min(Math.max(error.range?.start ?? 0, 0), source.length)
  const end = Math.min(Math.max(error.range?.end ?? start, start), source.length)
  if (error.code === "limit_exceeded") {
    const message = error.summary.includes("Depth")
      ? `the expression is nested more than ${nestingMax} deep`
      : "the expression has too many parts"
    return limitFinding(message, start, end)
  }
  const message = describe(error.code, error.summary, source.slice(start, end))
  return { ok: false, finding: { kind: "syntax", message, start, end } }
}

/** Source to tree, or the one mistake that stopped the parser. Never throws. */
export function parseExpression(source: string): Parsed {
  if (source.length > sourceLengthMax) {
    return limitFinding(
      `the expression is longer than ${sourceLengthMax} characters`,
      sourceLengthMax,
      source.length,
    )
  }
  if (source.trim() === "") {
    return {
      ok: false,
      finding: { kind: "syntax", message: "the expression is empty", start: 0, end: source.length },
    }
  }
  try {
    return { ok: true, tree: convertTree(library.parse(source).ast, source) }
  } catch (error) {
    return failed(source, error)
  }
}
