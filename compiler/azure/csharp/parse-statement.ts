import { watched } from "./parse-expression.ts"
import { parseArrayItems } from "./parse-new.ts"
import { parseDeconstruction, tryParts } from "./parse-tuple.ts"
import { expectType, reserved, tryType } from "./parse-type.ts"
import type { Parser } from "./parser-state.ts"
import type {
  BlockSyntax,
  DeconstructionTarget,
  ExpressionSyntax,
  FunctionStatement,
  StatementSyntax,
  SwitchCase,
  TypeSyntax,
} from "./syntax-tree.ts"

/** `{ statement* }` */
export function parseBlock(parser: Parser): BlockSyntax {
  const { start } = parser.expect("{")
  const body: StatementSyntax[] = []
  while (!parser.isSign("}")) body.push(parseStatement(parser))
  parser.expect("}")
  return { kind: "block", body, start, end: parser.end }
}

/** Statements up to the end of the text: the body of `@{ … }`. */
export function parseBody(parser: Parser): BlockSyntax {
  const { start } = parser.token
  const body: StatementSyntax[] = []
  while (parser.token.kind !== "end") body.push(parseStatement(parser))
  return { kind: "block", body, start, end: parser.token.end }
}

/** Statements by their first word or sign. */
const readers: Readonly<Record<string, (parser: Parser) => StatementSyntax>> = {
  "{": parseBlock,
  ";": (parser) => ({ kind: "empty", start: parser.take().start, end: parser.end }),
  // `checked` would throw on overflow; the library wraps. Refusing is better than another result.
  checked: (parser) => {
    throw watched(parser.token)
  },
  if: parseIf,
  while: (parser) => {
    const { start } = parser.take()
    const test = bracketed(parser)
    const body = parseStatement(parser)
    return { kind: "while", test, body, first: false, start, end: parser.end }
  },
  do: (parser) => {
    const { start } = parser.take()
    const body = parseStatement(parser)
    parser.expect("while")
    const test = bracketed(parser)
    parser.expect(";")
    return { kind: "while", test, body, first: true, start, end: parser.end }
  },
  for: parseFor,
  foreach: parseEach,
  switch: parseSwitch,
  return: parseLeave,
  throw: parseLeave,
  break: parseJump,
  continue: parseJump,
  try: parseTry,
  using: parseUsing,
  unchecked: parseUnchecked,
  // `const` is read and dropped: a constant is a variable whose assignment nobody checks.
  const: (parser) => {
    parser.take()
    return parseDeclaration(parser) ?? fail(parser)
  },
}

/** A declaration is tried first: `a b;` and `a.b();` begin alike. */
export function parseStatement(parser: Parser): StatementSyntax {
  // The nesting is limited by the parser, so that no text can exhaust the stack.
  return parser.nested(() => {
    const { kind, text, start } = parser.token
    const reader =
      // `Object.hasOwn`: a variable may be called `constructor`.
      (kind === "name" || kind === "sign") && Object.hasOwn(readers, text) ? readers[text] : undefined
    if (reader !== undefined) return reader(parser)
    if (kind === "end") throw parser.wrong("a statement or `}`")
    const declared = parseDeclaration(parser) ?? parseDeconstruction(parser)
    if (declared !== undefined) return declared
    const on = parser.rules.expression(parser)
    parser.expect(";")
    return { kind: "expression", on, start, end: parser.end }
  })
}

/** `unchecked { … }` has no effect, because numbers always wrap. `unchecked(…);` is an expression. */
function parseUnchecked(parser: Parser): StatementSyntax {
  if (parser.isSign("{", 1)) {
    parser.take()
    return parseBlock(parser)
  }
  const { start } = parser.token
  const on = parser.rules.expression(parser)
  parser.expect(";")
  return { kind: "expression", on, start, end: parser.end }
}

function fail(parser: Parser): never {
  throw parser.wrong("a declaration")
}

/** `T a = …, b;` or a local function. Undefined when it is neither. */
function parseDeclaration(parser: Parser): StatementSyntax | undefined {
  const { start } = parser.token
  // Tried, then taken back: only the token after the type says whether this is a declaration.
  const head = parser.attempt(() => {
    parser.tryTake("static")
    const type = tryType(parser)
    const next = parser.token
    // `await`, `new` and others begin an expression and never a type.
    if (type === undefined || next.kind !== "name" || reserved.has(next.text)) return undefined
    const follows = parser.peek(1)
    return follows.kind === "sign" && ["=", ";", ",", "("].includes(follows.text) ? { type } : undefined
  })
  if (head === undefined) return undefined
  if (parser.isSign("(", 1)) return parseFunction(parser, head.type, start)
  const declaration = parseNames(parser, head.type, start)
  parser.expect(";")
  return { ...declaration, end: parser.end }
}

/** One or more names of a declaration. */
function parseNames(parser: Parser, type: TypeSyntax, start: number): StatementSyntax {
  const names: { name: string; start: number; end: number; value?: ExpressionSyntax }[] = []
  do {
    const name = parser.name()
    const place = { name: name.text, start: name.start, end: name.end }
    names.push(parser.tryTake("=") ? { ...place, value: parseInitial(parser, type) } : place)
  } while (parser.tryTake(","))
  const isVar = type.name === "var" && type.args.length === 0 && type.suffix.length === 0
  return { kind: "declare", type: isVar ? undefined : type, names, start, end: parser.end }
}

function parseInitial(parser: Parser, type: TypeSyntax): ExpressionSyntax {
  // `int[] a = { 1, 2 }` has no `new`, so the type comes from the declaration.
  const isArray = parser.isSign("{") && type.suffix.at(-1) === "[]"
  return isArray ? parseArrayItems(parser, type) : parser.rules.expression(parser)
}

/** A local function. Its body is a block, or `=> expression;`. */
function parseFunction(parser: Parser, result: TypeSyntax, start: number): FunctionStatement {
  const { text: name } = parser.name()
  parser.expect("(")
  const params: { name: string; type: TypeSyntax; fallback?: ExpressionSyntax }[] = []
  if (!parser.isSign(")"))
    do {
      const type = expectType(parser)
      const parameter = { name: parser.name().text, type }
      params.push(
        parser.tryTake("=") ? { ...parameter, fallback: parser.rules.expression(parser) } : parameter,
      )
    } while (parser.tryTake(","))
  parser.expect(")")
  let body: BlockSyntax | ExpressionSyntax
  if (parser.tryTake("=>")) {
    body = parser.rules.expression(parser)
    parser.expect(";")
  } else body = parseBlock(parser)
  return { kind: "function", result, name, params, body, start, end: parser.end }
}

function bracketed(parser: Parser): ExpressionSyntax {
  parser.expect("(")
  const inner = parser.rules.expression(parser)
  parser.expect(")")
  return inner
}

function parseIf(parser: Parser): StatementSyntax {
  const { start } = parser.take()
  const test = bracketed(parser)
  const yes = parseStatement(parser)
  if (!parser.tryTake("else")) return { kind: "if", test, yes, start, end: parser.end }
  const no = parseStatement(parser)
  return { kind: "if", test, yes, no, start, end: parser.end }
}

/** `for` with each of its three parts optional. */
function parseFor(parser: Parser): StatementSyntax {
  const { start } = parser.take()
  parser.expect("(")
  const begin: StatementSyntax[] = []
  if (!parser.tryTake(";")) {
    // `for (i = 0; …)` without a type assigns variables that exist.
    const declared = parseDeclaration(parser)
    if (declared !== undefined) begin.push(declared)
    else {
      for (const on of expressions(parser, ";"))
        begin.push({ kind: "expression", on, start: on.start, end: on.end })
      parser.expect(";")
    }
  }
  const test = parser.isSign(";") ? undefined : parser.rules.expression(parser)
  parser.expect(";")
  const step = expressions(parser, ")")
  parser.expect(")")
  const body = parseStatement(parser)
  return { kind: "for", begin, ...(test === undefined ? {} : { test }), step, body, start, end: parser.end }
}

function expressions(parser: Parser, close: string): ExpressionSyntax[] {
  const found: ExpressionSyntax[] = []
  if (parser.isSign(close)) return found
  do found.push(parser.rules.expression(parser))
  while (parser.tryTake(","))
  return found
}

/** `foreach`, also over the parts of tuples. */
function parseEach(parser: Parser): StatementSyntax {
  const { start } = parser.take()
  parser.expect("(")
  const inner = parser.token.start
  const parts = tryParts(parser, "in")
  // Only `in` tells `(a, b) in list` from a cast.
  if (parts !== undefined) return parseEachParts(parser, parts, { start, inner })
  const type = expectType(parser)
  const name = parser.name().text
  parser.expect("in")
  const over = parser.rules.expression(parser)
  parser.expect(")")
  const body = parseStatement(parser)
  return {
    kind: "each",
    type: type.name === "var" ? undefined : type,
    name,
    over,
    body,
    start,
    end: parser.end,
  }
}

/** `foreach (var (a, b) in list) …`: each element is deconstructed before the body runs. */
function parseEachParts(
  parser: Parser,
  parts: readonly DeconstructionTarget[],
  { start, inner }: { start: number; inner: number },
): StatementSyntax {
  const place = { start: inner, end: parser.end }
  // This name cannot occur in source code.
  const name = "(element)"
  const over = parser.rules.expression(parser)
  parser.expect(")")
  const body = parseStatement(parser)
  const { end } = body
  const apart: StatementSyntax = {
    kind: "deconstruct",
    parts,
    value: { kind: "name", name, ...place },
    ...place,
  }
  const whole: StatementSyntax = { kind: "block", body: [apart, body], start: inner, end }
  return { kind: "each", type: undefined, name, over, body: whole, start, end }
}

/** `switch` with its cases. Several labels share one body. */
function parseSwitch(parser: Parser): StatementSyntax {
  const { start } = parser.take()
  const on = bracketed(parser)
  parser.expect("{")
  const cases: SwitchCase[] = []
  while (!parser.isSign("}")) {
    const labels: SwitchCase["labels"][number][] = []
    let when: ExpressionSyntax | undefined
    while (parser.isWord("case") || parser.isWord("default")) {
      const isDefault = parser.take().text === "default"
      // `default` is an undefined label, so that the order of the labels is kept.
      labels.push(isDefault ? undefined : parser.rules.pattern(parser))
      if (parser.tryTake("when")) when = parser.rules.expression(parser)
      parser.expect(":")
    }
    if (labels.length === 0) throw parser.wrong("`case` or `default`")
    const body: StatementSyntax[] = []
    while (!parser.isWord("case") && !parser.isWord("default") && !parser.isSign("}"))
      body.push(parseStatement(parser))
    cases.push({ labels, ...(when === undefined ? {} : { when }), body })
  }
  parser.expect("}")
  return { kind: "switch", on, cases, start, end: parser.end }
}

function parseLeave(parser: Parser): StatementSyntax {
  const { start, text } = parser.take()
  const kind = text === "return" ? "return" : "throw"
  if (parser.tryTake(";")) return { kind, start, end: parser.end }
  const on = parser.rules.expression(parser)
  parser.expect(";")
  return { kind, on, start, end: parser.end }
}

function parseJump(parser: Parser): StatementSyntax {
  const { start, text } = parser.take()
  parser.expect(";")
  return { kind: text === "break" ? "break" : "continue", start, end: parser.end }
}

/** `try` needs a `catch` or a `finally`. */
function parseTry(parser: Parser): StatementSyntax {
  const { start } = parser.take()
  const body = parseBlock(parser)
  const catches: { type?: TypeSyntax; name?: string; when?: ExpressionSyntax; body: BlockSyntax }[] = []
  while (parser.tryTake("catch")) {
    let head: { type?: TypeSyntax; name?: string } = {}
    if (parser.tryTake("(")) {
      // `catch (E)` without a name is common in policies that only want a default.
      const type = expectType(parser)
      head = parser.isSign(")") ? { type } : { type, name: parser.name().text }
      parser.expect(")")
    }
    const when = parser.tryTake("when") ? bracketed(parser) : undefined
    catches.push({ ...head, ...(when === undefined ? {} : { when }), body: parseBlock(parser) })
  }
  const last = parser.tryTake("finally") ? parseBlock(parser) : undefined
  if (catches.length === 0 && last === undefined) throw parser.wrong("`catch` or `finally`")
  return { kind: "try", body, catches, ...(last === undefined ? {} : { last }), start, end: parser.end }
}

/** `using (var x = …) statement` or `using var x = …;`. Disposing is not needed here. */
function parseUsing(parser: Parser): StatementSyntax {
  const { start } = parser.take()
  if (!parser.tryTake("(")) return parseDeclaration(parser) ?? fail(parser)
  const inner = parser.token
  // `using (Type x = …)` and `using (expression)` begin alike.
  const type = parser.attempt(() => {
    const found = tryType(parser)
    return found !== undefined && parser.token.kind === "name" && parser.isSign("=", 1) ? found : undefined
  })
  const on = type === undefined ? parser.rules.expression(parser) : undefined
  const resource: StatementSyntax =
    on === undefined
      ? parseNames(parser, type as TypeSyntax, inner.start)
      : { kind: "expression", on, start: on.start, end: on.end }
  parser.expect(")")
  const body = parseStatement(parser)
  return { kind: "using", resource, body, start, end: parser.end }
}
