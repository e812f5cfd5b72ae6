import { CsEnum } from "./collections.ts"
import { Decimal } from "./decimal.ts"
import { isNumberType, numberOperator, numberTypes } from "./numbers.ts"
import { same } from "./values.ts"

type Run = (frame: unknown[]) => unknown
type Operate = (a: unknown, b: unknown) => unknown

/**
 * A binary operator on operands of one type (`int`, `string`, `bool`, `object`, …; `int?` if either can be null). `&&`, `||` and `??` do not evaluate
 * the right side if the left side decides.
 */
export function compileBinary(op: string, type: string, left: Run, right: Run): Run {
  switch (op) {
    case "&&":
      return (frame) => left(frame) === true && right(frame) === true
    case "||":
      return (frame) => left(frame) === true || right(frame) === true
    case "??":
      return (frame) => left(frame) ?? right(frame)
    default:
  }
  const direct = isDirect(type) ? compileDirect(op, left, right) : undefined
  if (direct !== undefined) return direct
  const isNullable = type.endsWith("?")
  const operate = operatorOf(op, isNullable ? type.slice(0, -1) : type)
  if (!isNullable) return (frame) => operate(left(frame), right(frame))
  const lifted = lift(op, operate)
  return (frame) => lifted(left(frame), right(frame))
}

/** Types whose values JavaScript compares like C#. */
function isDirect(type: string): boolean {
  return type === "string" || type === "char" || type === "bool" || (isNumberType(type) && type !== "decimal")
}

/** A comparison without a function call, because most operators in policies are comparisons. Texts and numbers use the same operators. */
function compileDirect(op: string, left: Run, right: Run): Run | undefined {
  switch (op) {
    case "==":
      return (frame) => left(frame) === right(frame)
    case "!=":
      return (frame) => left(frame) !== right(frame)
    case "<":
      return (frame) => (left(frame) as number) < (right(frame) as number)
    case "<=":
      return (frame) => (left(frame) as number) <= (right(frame) as number)
    case ">":
      return (frame) => (left(frame) as number) > (right(frame) as number)
    case ">=":
      return (frame) => (left(frame) as number) >= (right(frame) as number)
    default:
      return undefined
  }
}

/** Handles null operands: equality compares them, ordering is false, arithmetic yields null. */
function lift(op: string, operate: Operate): Operate {
  const without =
    op === "=="
      ? (a: unknown, b: unknown) => a === null && b === null
      : op === "!="
        ? (a: unknown, b: unknown) => !(a === null && b === null)
        : ["<", ">", "<=", ">="].includes(op)
          ? () => false
          : () => null
  return (a, b) => (a === null || b === null ? without(a, b) : operate(a, b))
}

const general: Readonly<Record<string, Operate>> = {
  "==": same,
  "!=": (a, b) => !same(a, b),
}

const booleans: Readonly<Record<string, Operate>> = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "&": (a, b) => (a as boolean) && (b as boolean),
  "|": (a, b) => (a as boolean) || (b as boolean),
  "^": (a, b) => a !== b,
}

const texts: Readonly<Record<string, Operate>> = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => (a as string) < (b as string),
  "<=": (a, b) => (a as string) <= (b as string),
  ">": (a, b) => (a as string) > (b as string),
  ">=": (a, b) => (a as string) >= (b as string),
}

const enums: Readonly<Record<string, Operate>> = {
  ...general,
  "|": (a, b) => {
    const [x, y] = [a as CsEnum, b as CsEnum]
    return new CsEnum(x.typeName, [...new Set([...x.names, ...y.names])], x.value | y.value)
  },
}

/** Types are known when the expression is compiled, so an operator that is missing here is a fault of the compiler. */
function operatorOf(op: string, type: string): Operate {
  const table =
    type === "bool"
      ? booleans
      : type === "string" || type === "char"
        ? texts
        : type === "enum"
          ? enums
          : general
  const found = isNumberType(type)
    ? numberOperator(op, type)
    : Object.hasOwn(table, op)
      ? table[op]
      : undefined
  if (found === undefined) throw new Error(`there is no operator ${op} on ${type}`)
  return found as Operate
}

/** `-`, `+`, `~` of numbers, `!` of bool. */
export function compileUnary(op: string, type: string, on: Run): Run {
  if (op === "!" && type === "bool?")
    return (frame) => {
      const value = on(frame)
      return value === null ? null : value !== true
    }
  if (op === "!") return (frame) => on(frame) !== true
  if (op === "+") return on
  const wrap = (value: number | bigint): number | bigint => numberTypes[type]?.wrap(value) ?? value
  const operate = (value: unknown): unknown => {
    if (value === null) return null
    if (op === "~") return wrap(typeof value === "bigint" ? ~value : ~(value as number))
    if (value instanceof Decimal) return value.negate()
    return type === "double" ? -(value as number) : wrap(-(value as number))
  }
  if (!["-", "~"].includes(op) || !isNumberType(type.replace("?", "")))
    throw new Error(`there is no operator ${op} on ${type}`)
  return (frame) => operate(on(frame))
}
