import type { Token } from "./lexer.ts"
import { parseBracketed } from "./parse-tuple.ts"
import { expectType, reserved, tryType, tryTypeList } from "./parse-type.ts"
import type { Parser } from "./parser-state.ts"
import { CsharpMistake } from "./source.ts"
import type {
  ArgumentSyntax,
  ExpressionSyntax,
  LambdaParameter,
  SwitchArm,
  TypeSyntax,
} from "./syntax-tree.ts"

/** Precedence of binary operators. `is` and `as` have that of comparisons. */
const precedence: Readonly<Record<string, number>> = {
  "??": 1,
  "||": 2,
  "&&": 3,
  "|": 4,
  "^": 5,
  "&": 6,
  "==": 7,
  "!=": 7,
  "<": 8,
  ">": 8,
  "<=": 8,
  ">=": 8,
  is: 8,
  as: 8,
  "<<": 9,
  ">>": 9,
  "+": 10,
  "-": 10,
  "*": 11,
  "/": 11,
  "%": 11,
}
const assignments = new Set(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "??="])

/** expression := lambda | conditional (assignment-operator expression)? */
export function parseExpression(parser: Parser): ExpressionSyntax {
  return parser.nested(() => {
    // Lambdas and queries first: both begin with a name, like nearly everything else.
    const lambda = tryLambda(parser)
    if (lambda !== undefined) return lambda
    const query = parser.rules.query(parser)
    if (query !== undefined) return query
    if (parser.isWord("throw")) {
      const { start } = parser.take()
      const on = parseExpression(parser)
      return { kind: "throw", on, start, end: parser.end }
    }
    const left = parseConditional(parser)
    const { text, kind } = parser.token
    if (kind !== "sign" || !assignments.has(text)) return left
    parser.take()
    // Assignments are right-associative: `a = b = c`.
    const value = parseExpression(parser)
    return { kind: "assign", op: text, target: left, value, start: left.start, end: value.end }
  })
}

function parseConditional(parser: Parser): ExpressionSyntax {
  const test = parseBinary(parser, 1)
  if (!parser.tryTake("?")) return test
  const yes = parseExpression(parser)
  parser.expect(":")
  const no = parseExpression(parser)
  return { kind: "if", test, yes, no, start: test.start, end: no.end }
}

/** The operator at the current position. The lexer splits `>>`, because it may close two type argument lists. */
function operatorAt(parser: Parser): string | undefined {
  const { kind, text, end } = parser.token
  if (kind === "name") return text === "is" || text === "as" ? text : undefined
  if (kind !== "sign") return undefined
  // Only without a blank between them: `List<List<int>> x` has the same two signs.
  if (text === ">" && parser.isSign(">", 1) && parser.peek(1).start === end) return ">>"
  return Object.hasOwn(precedence, text) ? text : undefined
}

/** Precedence climbing: `least` is the lowest precedence that belongs to this operand. */
function parseBinary(parser: Parser, least: number): ExpressionSyntax {
  let left = parseUnary(parser)
  for (;;) {
    const op = operatorAt(parser)
    const level = op === undefined ? 0 : (precedence[op] as number)
    if (op === undefined || level < least) return left
    parser.at += op === ">>" ? 2 : 1
    const { start } = left
    if (op === "as") left = { kind: "as", type: asType(parser), on: left, start, end: parser.end }
    else if (op === "is")
      left = { kind: "is", on: left, pattern: parser.rules.pattern(parser), start, end: parser.end }
    else {
      // `??` is right-associative: `a ?? b ?? c` is `a ?? (b ?? c)`. Its right side may throw.
      const right =
        op === "??" && parser.isWord("throw")
          ? parseExpression(parser)
          : parser.nested(() => parseBinary(parser, op === "??" ? level : level + 1))
      left = { kind: "binary", op, left, right, start, end: parser.end }
    }
  }
}

/** After `x as T`, a `?` begins a conditional when an expression follows; otherwise it makes `T?`. */
function asType(parser: Parser): TypeSyntax {
  const type = expectType(parser)
  if (type.suffix.at(-1) !== "?" || !beginsOperand(parser)) return type
  // The `?` is given back; the conditional takes it.
  parser.at--
  return { ...type, suffix: type.suffix.slice(0, -1) }
}

function beginsOperand(parser: Parser): boolean {
  const { kind, text } = parser.token
  if (kind === "sign") return text === "(" || text === "!" || text === "-"
  return kind !== "end" && !(kind === "name" && ["is", "as"].includes(text))
}

/** Prefix operators and casts. A cast is tried first at a bracket, and the parser goes back if no cast begins there. */
function parseUnary(parser: Parser): ExpressionSyntax {
  const { token } = parser
  if (token.kind === "sign") {
    if (["-", "+", "!", "~"].includes(token.text)) {
      parser.take()
      // Nested, because `- - - x` could be as deep as the text is long.
      const on = parser.nested(() => parseUnary(parser))
      return { kind: "unary", op: token.text, on, start: token.start, end: on.end }
    }
    if (token.text === "++" || token.text === "--") {
      parser.take()
      const on = parser.nested(() => parseUnary(parser))
      return { kind: "step", op: token.text, before: true, on, start: token.start, end: on.end }
    }
    const cast = token.text === "(" ? tryCast(parser) : undefined
    if (cast !== undefined) return cast
  }
  // A program runs to its end within one step; there is nothing that it could wait for.
  if (parser.isWord("await"))
    throw parser.wrong("an expression without `await` (policy expressions cannot wait)")
  return parsePostfix(parser, parsePrimary(parser))
}

/** Names of types that C# reserves: in brackets, they can only be a cast. */
const builtIn = new Set([
  "string",
  "int",
  "long",
  "bool",
  "double",
  "decimal",
  "float",
  "char",
  "byte",
  "sbyte",
  "short",
  "ushort",
  "uint",
  "ulong",
  "object",
])

/** `(T)x`: a type in parentheses, followed by the start of an operand. */
function tryCast(parser: Parser): ExpressionSyntax | undefined {
  const { start } = parser.token
  const type = parser.attempt(() => {
    parser.expect("(")
    const found = tryType(parser)
    if (found === undefined || !parser.tryTake(")")) return undefined
    const { kind, text } = parser.token
    // `(a) - b` is a subtraction, `(int) -b` a cast: a sign may follow only a built-in type.
    const begins =
      kind === "sign"
        ? ["(", "!", "~"].includes(text) || (builtIn.has(found.name) && ["-", "+"].includes(text))
        : kind !== "end" && !(kind === "name" && ["is", "as", "switch"].includes(text)) && !parser.goesOn()
    return begins ? found : undefined
  })
  if (type === undefined) return undefined
  const on = parser.nested(() => parseUnary(parser))
  return { kind: "cast", type, on, start, end: on.end }
}

/** `x => …`, `(x, y) => …`, `(int x) => …`. */
function tryLambda(parser: Parser): ExpressionSyntax | undefined {
  const { start } = parser.token
  const params = parser.attempt(() => {
    const found = lambdaParameters(parser)
    return found !== undefined && parser.tryTake("=>") ? found : undefined
  })
  if (params === undefined) return undefined
  // A block has statements; without braces the body is one expression.
  const body = parser.isSign("{") ? parser.rules.block(parser) : parseExpression(parser)
  return { kind: "lambda", params, body, start, end: parser.end }
}

/** The parameters of a lambda; undefined if this is not one. */
function lambdaParameters(parser: Parser): LambdaParameter[] | undefined {
  const head = parser.token
  // A reserved word begins another kind of expression.
  if (head.kind === "name") return reserved.has(head.text) ? undefined : [{ name: parser.take().text }]
  if (!parser.tryTake("(")) return undefined
  const params: LambdaParameter[] = []
  while (!parser.isSign(")")) {
    const isBare = parser.token.kind === "name" && (parser.isSign(",", 1) || parser.isSign(")", 1))
    const type = isBare ? undefined : tryType(parser)
    if ((!isBare && type === undefined) || parser.token.kind !== "name") return undefined
    const name = parser.take().text
    params.push(type === undefined ? { name } : { name, type })
    if (!parser.tryTake(",")) break
  }
  return parser.tryTake(")") ? params : undefined
}

/** A literal, a name, brackets, `new` and the other expressions that begin with a word. */
function parsePrimary(parser: Parser): ExpressionSyntax {
  const token: Token = parser.token
  const literal = parser.rules.literal(parser)
  if (literal !== undefined) return literal
  if (parser.token.kind === "interpolated") return parser.rules.interpolated(parser)
  if (parser.tryTake("(")) return parseBracketed(parser, token.start)
  if (parser.token.kind !== "name") throw parser.wrong("an expression")
  if (token.text === "new") return parser.rules.creation(parser)
  // Refused rather than ignored: the program counts on an exception.
  if (token.text === "checked" && parser.isSign("(", 1)) throw watched(token)
  if (token.text === "unchecked" && parser.isSign("(", 1)) {
    // `unchecked` has no effect, because numbers always wrap.
    parser.take()
    return parsePrimary(parser)
  }
  if (token.text === "typeof" || token.text === "default") return parseTypeWord(parser)
  if (reserved.has(token.text)) throw parser.wrong("an expression")
  parser.take()
  const types = parser.isSign("<") ? tryGenericCall(parser) : undefined
  return {
    kind: "name",
    name: token.text,
    ...(types === undefined ? {} : { types }),
    start: token.start,
    end: parser.end,
  }
}

/** `checked` is unsupported: overflow is only detected in conversions. */
export function watched({ start, end }: Token): CsharpMistake {
  return new CsharpMistake(
    "syntax",
    "`checked` is not supported: numbers overflow without an error",
    start,
    end,
    "Use `Convert.ToInt32(…)`, which fails on an overflow, or compare the values first.",
  )
}

/** `typeof(T)`, `default(T)` and `default`. */
function parseTypeWord(parser: Parser): ExpressionSyntax {
  const { text, start } = parser.take()
  if (text === "default" && !parser.isSign("("))
    return { kind: "default", type: undefined, start, end: parser.end }
  parser.expect("(")
  const type = expectType(parser)
  parser.expect(")")
  return { kind: text === "typeof" ? "type" : "default", type, start, end: parser.end }
}

/** `<T>` after a name is a type argument list when a call or a member follows. Otherwise `<` is a comparison. */
function tryGenericCall(parser: Parser): TypeSyntax[] | undefined {
  return parser.attempt(() => {
    const types = tryTypeList(parser)
    // `a < b > (c)` is read as a call with type arguments, as C# does.
    return types !== undefined && (parser.isSign("(") || parser.isSign(".")) ? types : undefined
  })
}

/** What follows an operand: members, calls, indexers, `?.`, `++`, `switch`. */
function parsePostfix(parser: Parser, first: ExpressionSyntax): ExpressionSyntax {
  let on = first
  for (;;) {
    const { start } = on
    const { token } = parser
    if (token.kind === "name" && token.text === "switch" && parser.isSign("{", 1)) {
      on = parseSwitchExpression(parser, on)
      continue
    }
    if (token.kind !== "sign") return on
    if (token.text === ".") {
      parser.take()
      on = parseMember(parser, on)
    } else if (token.text === "(")
      on = { kind: "call", on, args: parseArguments(parser, ")"), start, end: parser.end }
    else if (token.text === "[")
      on = { kind: "index", on, args: parseArguments(parser, "]"), start, end: parser.end }
    // Everything behind `?.` belongs to it, so the loop ends here.
    else if (token.text === "?." || token.text === "?[") return parseSafe(parser, on)
    else if (token.text === "++" || token.text === "--") {
      parser.take()
      on = { kind: "step", op: token.text, before: false, on, start, end: parser.end }
    } else if (token.text === "!" && isForgiving(parser)) parser.take()
    else return on
  }
}

/** `x!` asserts that x is not null. It occurs before any postfix of x. */
function isForgiving(parser: Parser): boolean {
  return [".", "[", ")", ",", ";", "]"].some((sign) => parser.isSign(sign, 1))
}

/** A member. `<` begins type arguments only if they are followed by a call. */
function parseMember(parser: Parser, on: ExpressionSyntax): ExpressionSyntax {
  const name = parser.name()
  const types = parser.isSign("<") ? tryGenericCall(parser) : undefined
  return {
    kind: "member",
    on,
    name: name.text,
    nameStart: name.start,
    ...(types === undefined ? {} : { types }),
    start: on.start,
    end: parser.end,
  }
}

/** `a?.b.c`: everything after `?.` is evaluated only when `a` is not null. */
function parseSafe(parser: Parser, on: ExpressionSyntax): ExpressionSyntax {
  const { start } = on
  const { text } = parser.take()
  const hole: ExpressionSyntax = { kind: "hole", start: on.start, end: on.end }
  const first: ExpressionSyntax =
    text === "?."
      ? parseMember(parser, hole)
      : { kind: "index", on: hole, args: parseRest(parser, "]"), start, end: parser.end }
  const rest = parser.nested(() => parsePostfix(parser, first))
  return { kind: "safe", on, rest, start, end: parser.end }
}

/** Parses arguments in brackets, starting at the opening bracket. */
export function parseArguments(parser: Parser, close: string): ArgumentSyntax[] {
  parser.take()
  return parseRest(parser, close)
}

function parseRest(parser: Parser, close: string): ArgumentSyntax[] {
  const args: ArgumentSyntax[] = []
  if (!parser.isSign(close))
    do args.push(parseArgument(parser))
    while (parser.tryTake(","))
  parser.expect(close)
  return args
}

/** An argument with an optional name. `out` may declare a variable. */
function parseArgument(parser: Parser): ArgumentSyntax {
  const { start } = parser.token
  let name: string | undefined
  // A name before a colon: arguments may be named in any order.
  if (parser.token.kind === "name" && parser.isSign(":", 1)) {
    name = parser.take().text
    parser.take()
  }
  const label = name === undefined ? {} : { name }
  if (parser.tryTake("out")) {
    const type =
      // A type is there if a name follows what begins like one.
      parser.peek(1).kind === "name" ||
      parser.isSign("<", 1) ||
      parser.isSign("[", 1) ||
      parser.isSign("?", 1)
        ? expectType(parser)
        : undefined
    const target = parser.name().text
    const isVar = type?.name === "var" && type.args.length === 0
    return {
      ...label,
      out: {
        name: target,
        ...(type === undefined || isVar ? (isVar ? { type: type as TypeSyntax } : {}) : { type }),
      },
      start,
      end: parser.end,
    }
  }
  return { ...label, value: parseExpression(parser), start, end: parser.end }
}

/** A `switch` expression; the last arm may end with a comma. */
function parseSwitchExpression(parser: Parser, on: ExpressionSyntax): ExpressionSyntax {
  parser.take()
  parser.expect("{")
  const arms: SwitchArm[] = []
  while (!parser.isSign("}")) {
    const pattern = parser.rules.pattern(parser)
    const when = parser.tryTake("when") ? parseExpression(parser) : undefined
    parser.expect("=>")
    arms.push({ pattern, ...(when === undefined ? {} : { when }), value: parseExpression(parser) })
    if (!parser.tryTake(",")) break
  }
  parser.expect("}")
  return { kind: "switch", on, arms, start: on.start, end: parser.end }
}
