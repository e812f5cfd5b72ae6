import { isNumberType } from "../../../runtime/azure/csharp/numbers.ts"
import { typeInfo } from "../../../runtime/azure/csharp/table.ts"
import { type CsType, generic, named, printType, sameType } from "../../../runtime/azure/csharp/type.ts"
import type { CsNode } from "../../../runtime/plan/csharp.ts"
import { commonType } from "./check-function.ts"
import { demand, implicit } from "./conversions.ts"
import { callOf, candidates, choose } from "./members.ts"
import type { Scope, Sides } from "./scope.ts"
import { CsharpMistake } from "./source.ts"
import type { ExpressionSyntax } from "./syntax-tree.ts"
import { isValueType } from "./type-names.ts"
import { type Typed, typed, types } from "./typed.ts"

type Of<K extends ExpressionSyntax["kind"]> = Extract<ExpressionSyntax, { kind: K }>
type Place = { readonly start: number; readonly end: number }

const comparisons = new Set(["==", "!=", "<", "<=", ">", ">="])
const methods: Readonly<Record<string, string>> = {
  "+": "op_Addition",
  "-": "op_Subtraction",
  "<": "op_LessThan",
  "<=": "op_LessThanOrEqual",
  ">": "op_GreaterThan",
  ">=": "op_GreaterThanOrEqual",
}

/** Operands are checked separately, so that mistakes in both are reported. */
export function checkBinary(expression: Of<"binary">, scope: Scope): Typed {
  const [left, right] = [scope.operand(expression.left), scope.operand(expression.right)]
  const { start, end } = expression
  return binary(
    expression.op,
    left,
    right,
    { start, end, left: expression.left, right: expression.right },
    scope,
  )
}

/** A binary operator with checked operands. `place` is the place of the operator and of each operand. */
export function binary(op: string, left: Typed, right: Typed, place: Sides, scope: Scope): Typed {
  if (op === "&&" || op === "||") {
    // Converted separately, so that each side's mistake has its own place.
    const [a, b] = [
      demand(loose(left, types.bool), types.bool, place.left),
      demand(loose(right, types.bool), types.bool, place.right),
    ]
    return typed({ k: "binary", op, type: "bool", left: a, right: b }, types.bool)
  }
  if (op === "??") return coalesce(left, right, place)
  // A text on one side makes `+` a concatenation, whatever the other side is.
  if (op === "+" && (left.type.name === "string" || right.type.name === "string"))
    return takesText(left, right)
      ? (declaredOperator(op, left, right, place, scope) ?? concat(left, right, place))
      : concat(left, right, place)
  // After the concatenation: there a dynamic value stays as it is.
  const [a, b] = [settle(left, right), settle(right, left)]
  const numbers = arithmetic(op, a, b)
  if (numbers !== undefined) return numbers
  const own = declaredOperator(op, a, b, place, scope)
  if (own !== undefined) return own
  const equal = op === "==" || op === "!=" ? equality(op, a, b) : flags(op, a, b)
  if (equal !== undefined) return equal
  throw new CsharpMistake(
    "type",
    `\`${op}\` cannot be applied to \`${printType(left.type)}\` and \`${printType(right.type)}\``,
    place.start,
    place.end,
    left.type.name === "object" || right.type.name === "object"
      ? "Cast the value to its type first: `(int)value`."
      : "Convert one side to the other's type.",
  )
}

/** Whether one of the types declares its own `+` for strings, which takes precedence over concatenation (C# 7 section 12.4.5): `XNamespace + "name"`. */
function takesText(left: Typed, right: Typed): boolean {
  const at = right.type.name === "string" ? 1 : 0
  return candidates((at === 1 ? left : right).type, "op_Addition", "method", true).some(
    ({ member }) => member.parameters[at]?.type.name === "string",
  )
}

/** A value of unknown type gets the type of the other operand. */
function settle(value: Typed, other: Typed): Typed {
  if (value.type.name !== "dynamic") return value
  const target = other.type.name === "dynamic" || other.type.name === "null" ? types.object : other.type
  const way = implicit(value, target)
  return way === undefined ? value : typed(way.node, target)
}

function loose(value: Typed, type: CsType): Typed {
  return value.type.name === "dynamic" ? settle(value, typed(value.node, type)) : value
}

/** `+` with a text. Neighbouring concatenations become one, so that the runtime joins all parts once. */
function concat(left: Typed, right: Typed, place: Place): Typed {
  for (const side of [left, right])
    if (side.type.name === "void")
      throw new CsharpMistake(
        "type",
        "this part has no value to concatenate",
        place.start,
        place.end,
        "Concatenate only values.",
      )
  const parts: CsNode[] = [...partsOf(left), ...partsOf(right)]
  const constant = isText(left) && isText(right) ? `${left.constant}${right.constant}` : undefined
  // Folded, because attributes need constants, and the runtime has less to do.
  if (constant !== undefined)
    return { node: { k: "const", type: "string", value: constant }, type: types.string, constant }
  return typed({ k: "concat", parts }, types.string)
}

/** A numeric constant is excluded, because its source text may differ from its string form. */
function isText({ constant, type }: Typed): boolean {
  return typeof constant === "string" && (type.name === "string" || type.name === "char")
}

/** Merges nested concatenations into one list. An operand that is not a string is kept as one part. */
function partsOf({ node, type }: Typed): CsNode[] {
  return type.name === "string" && node.k === "concat" ? node.parts : [node]
}

/** The common type of two numbers (C# 7, 12.4.7): decimal, double, float, ulong, long, uint, int. */
function promoted(a: string, b: string): string | undefined {
  for (const name of ["decimal", "double", "float", "ulong"])
    if (a === name || b === name)
      // Decimal with a binary floating-point number has no common type in C#.
      return name === "decimal" && ["double", "float"].some((other) => other === a || other === b)
        ? undefined
        : name
  if (a === "long" || b === "long") return "long"
  if (a === "uint" || b === "uint")
    // `uint` with a signed type is `long`: it holds the values of both.
    return [a, b].some((name) => ["sbyte", "short", "int"].includes(name)) ? "long" : "uint"
  return "int"
}

const isNumeric = (name: string): boolean => isNumberType(name) || name === "char"
const bare = (type: CsType): CsType => (type.name === "?" ? (type.args[0] as CsType) : type)

/** Operators on numbers and booleans. Undefined for other types, which may declare operators. */
function arithmetic(op: string, left: Typed, right: Typed): Typed | undefined {
  const [a, b] = [bare(left.type), bare(right.type)]
  const isNull = left.type.name === "?" || right.type.name === "?"
  if (a.name === "bool" && b.name === "bool" && ["==", "!=", "&", "|", "^"].includes(op))
    return build(op, left, right, types.bool, isNull)
  if (!isNumeric(a.name) || !isNumeric(b.name)) return undefined
  if (a.name === "char" && b.name === "char" && comparisons.has(op))
    return build(op, left, right, types.char, isNull)
  if (op === "<<" || op === ">>") {
    // A shift keeps the type of its left side; smaller types become `int`.
    const kept = ["long", "ulong", "uint"].includes(a.name) ? a.name : "int"
    const node: CsNode = {
      k: "binary",
      op,
      type: kept,
      left: demandNumber(left, named(kept)),
      right: demandNumber(right, types.int),
    }
    return typed(node, named(kept))
  }
  const common = promotedOf(left, right, a.name, b.name)
  return common === undefined ? undefined : build(op, left, right, named(common), isNull)
}

/** A constant int gets the type of the other operand if it fits: `1 + someUlong`. */
function promotedOf(left: Typed, right: Typed, a: string, b: string): string | undefined {
  if (b === "uint" || b === "ulong")
    if (a === "int" && typeof left.constant === "number" && left.constant >= 0) return b
  if (a === "uint" || a === "ulong")
    if (b === "int" && typeof right.constant === "number" && right.constant >= 0) return a
  return promoted(a, b)
}

/** An operand as a number. A narrowing conversion is possible here because the type of the result is wider. */
function demandNumber(value: Typed, type: CsType): CsNode {
  return (
    implicit(value, type)?.node ?? {
      k: "convert",
      from: printType(value.type),
      to: printType(type),
      on: value.node,
    }
  )
}

/** An operator whose operands are constant is computed now, as C# does. */
function build(op: string, left: Typed, right: Typed, type: CsType, isNull: boolean): Typed {
  const operand = isNull ? generic("?", type) : type
  const folded = isNull ? undefined : fold(op, left, right, type)
  if (folded !== undefined) return folded
  const node: CsNode = {
    k: "binary",
    op,
    type: printType(operand),
    left: demandNumber(left, operand),
    right: demandNumber(right, operand),
  }
  return typed(node, comparisons.has(op) ? types.bool : operand)
}

/** Evaluates constant ints: `60 * 20` may become a `uint`, `1` alone a `byte`. Overflow is left to the runtime. */
function fold(op: string, { constant: a }: Typed, { constant: b }: Typed, type: CsType): Typed | undefined {
  if (type.name !== "int" || typeof a !== "number" || typeof b !== "number") return undefined
  const value = op === "+" ? a + b : op === "-" ? a - b : op === "*" ? a * b : undefined
  // A result beyond `int` wraps at run time, and a constant cannot show that.
  if (value === undefined || Math.abs(value) > 2147483647) return undefined
  return { node: { k: "const", type: "int", value }, type: types.int, constant: value }
}

/** An operator that a type of the library declares as a method (`op_Addition`). */
function declaredOperator(
  op: string,
  left: Typed,
  right: Typed,
  place: Place,
  scope: Scope,
): Typed | undefined {
  const name = Object.hasOwn(methods, op) ? (methods[op] as string) : undefined
  if (name === undefined) return undefined
  const [a, b] = [unwrapped(left), unwrapped(right)]
  const found = [...candidates(a.type, name, "method", true), ...candidates(b.type, name, "method", true)]
  if (found.length === 0) return undefined
  const given = [a, b].map((value) => ({ kind: "value" as const, value, at: place }))
  return callOf(choose(found, given, [], scope, place, op), undefined, place.start)
}

/** Unwraps a nullable operand. Null causes a NullReferenceException, where C# would lift the operator. */
function unwrapped(value: Typed): Typed {
  if (value.type.name !== "?") return value
  const inner = bare(value.type)
  return typed({ k: "convert", from: printType(value.type), to: printType(inner), on: value.node }, inner)
}

/**
 * Compares strings, enumerations and times by value, and objects with `Equals` where .NET compares references, because policies compare the
 * contents of variables.
 */
function equality(op: string, left: Typed, right: Typed): Typed | undefined {
  // Null compares as a text here: both sides are references.
  const isText = [left, right].every(({ type }) => ["string", "null"].includes(type.name))
  const result = (type: string, a: CsNode, b: CsNode): Typed =>
    typed({ k: "binary", op, type, left: a, right: b }, types.bool)
  if (isText) return result("string", left.node, right.node)
  for (const [from, to] of [
    [left, right],
    [right, left],
  ] as const) {
    if (from.type.name === "null") {
      // C# lifts the operator for value types (C# 7, 12.4.8): published policies write `ContainsKey("x") != null`. `KeyValuePair` has no
      // operator to lift.
      if (to.type.name === "KeyValuePair") return undefined
      const boxed = isValueType(to.type) ? implicit(to, types.object)?.node : to.node
      if (boxed === undefined) return undefined
      return from === left ? result("object", from.node, boxed) : result("object", boxed, from.node)
    }
    if (to.type.name === "object") {
      const way = implicit(from, types.object)
      if (way !== undefined)
        return from === left ? result("object", way.node, right.node) : result("object", left.node, way.node)
    }
  }
  // Two values of one type compare by their content.
  if (sameType(bare(left.type), bare(right.type))) return result("object", left.node, right.node)
  const related = implicit(left, right.type) ?? undefined
  if (related !== undefined) return result("object", related.node, right.node)
  const other = implicit(right, left.type)
  return other === undefined ? undefined : result("object", left.node, other.node)
}

/** `|` on flags of one enumeration. */
function flags(op: string, left: Typed, right: Typed): Typed | undefined {
  const isEnum =
    op === "|" &&
    sameType(left.type, right.type) &&
    typeInfo(left.type.name)?.bases.some(({ name }) => name === "Enum") === true
  return isEnum
    ? typed({ k: "binary", op, type: "enum", left: left.node, right: right.node }, left.type)
    : undefined
}

/** `??`. The result has the type of the left side if the right one converts to it, otherwise the other way round. */
function coalesce(left: Typed, right: Typed, place: Sides): Typed {
  const inner = bare(left.type)
  // `null ?? x` has the type of x only.
  if (left.type.name === "null") return right
  const way = implicit(
    right,
    left.type.name === "?" && right.type.name !== "?" && right.type.name !== "null" ? inner : left.type,
  )
  if (way !== undefined) {
    const type = left.type.name === "?" && !["?", "null"].includes(right.type.name) ? inner : left.type
    return typed({ k: "binary", op: "??", type: "object", left: left.node, right: way.node }, type)
  }
  const other = implicit(typed(left.node, inner), right.type)
  if (other !== undefined && left.type.name !== "?") {
    // The left side is not converted: a declared conversion may not accept null.
    return typed(
      { k: "binary", op: "??", type: "object", left: left.node, right: right.node },
      right.type.name === "object" ? types.object : right.type,
    )
  }
  return typed(
    {
      k: "binary",
      op: "??",
      type: "object",
      left: demand(left, types.object, place.right),
      right: demand(right, types.object, place.right),
    },
    types.object,
  )
}

/** The smallest int and long are written as the negation of a number that does not fit (C# 7, 7.4.5.3). */
function leastNumber(op: string, on: ExpressionSyntax): Typed | undefined {
  if (op !== "-" || on.kind !== "literal") return undefined
  if (on.type === "uint" && on.value === 2 ** 31)
    return { node: { k: "const", type: "int", value: -(2 ** 31) }, type: types.int, constant: -(2 ** 31) }
  if (on.type === "ulong" && on.value === String(2n ** 63n))
    return typed({ k: "const", type: "long", value: String(-(2n ** 63n)) }, named("long"))
  return undefined
}

/** Unary operators. `-2147483648` is one literal, because 2147483648 alone is not an int. */
export function checkUnary({ op, on, start, end }: Of<"unary">, scope: Scope): Typed {
  const least = leastNumber(op, on)
  if (least !== undefined) return least
  const value = scope.rules.expression(on, scope)
  if (op === "!" && value.type.name === "?" && bare(value.type).name === "bool")
    return typed({ k: "unary", op, type: "bool?", on: value.node }, value.type)
  if (op === "!")
    return typed(
      { k: "unary", op, type: "bool", on: demand(loose(value, types.bool), types.bool, on) },
      types.bool,
    )
  if (isNumeric(bare(value.type).name)) {
    const inner = bare(value.type).name
    const kept =
      op === "-" && inner === "uint"
        ? "long"
        : ["long", "ulong", "float", "double", "decimal", "uint"].includes(inner)
          ? inner
          : "int"
    if (typeof value.constant === "number" && op === "-" && kept === "int")
      return {
        node: { k: "const", type: "int", value: 0 - value.constant },
        type: types.int,
        constant: 0 - value.constant,
      }
    const type = value.type.name === "?" ? generic("?", named(kept)) : named(kept)
    return typed({ k: "unary", op, type: printType(type), on: demandNumber(value, type) }, type)
  }
  const found = op === "-" ? candidates(value.type, "op_UnaryNegation", "method", true) : []
  if (found.length > 0)
    return callOf(
      choose(found, [{ kind: "value", value, at: { start, end } }], [], scope, { start, end }, op),
      undefined,
      start,
    )
  throw new CsharpMistake(
    "type",
    `\`${op}\` cannot be applied to \`${printType(value.type)}\``,
    start,
    end,
    "Convert the value to a number first.",
  )
}

export function checkIf({ test, yes, no }: Of<"if">, scope: Scope, wanted: CsType | undefined): Typed {
  const asked = demand(loose(scope.operand(test), types.bool), types.bool, test)
  const [a, b] = [scope.operand(yes, wanted), scope.operand(no, wanted)]
  const type = branchType(a, b, wanted)
  return typed({ k: "if", test: asked, yes: demand(a, type, yes), no: demand(b, type, no) }, type)
}

/** The common type of both branches. A value type and null give a nullable type. */
function branchType(a: Typed, b: Typed, wanted: CsType | undefined): CsType {
  const [x, y] = [a.type, b.type]
  for (const [one, other] of [
    [x, y],
    [y, x],
  ] as const)
    if (one.name === "null" && isValueType(other)) return generic("?", other)
  if (wanted !== undefined && wanted.name !== "object" && implicit(a, wanted) && implicit(b, wanted))
    return wanted
  return commonType([a, b])
}
