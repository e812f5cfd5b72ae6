import { type Adapt, adapterFor, adaptRawInt } from "./adapt.ts"
import { checkSource } from "./check-source.ts"
import { type CelClosure, type CelFrame, noLocals } from "./closures.ts"
import { TreeCompiler, type VariableReader } from "./compile-tree.ts"
import { textOf } from "./conversions.ts"
import type { Environment } from "./environment.ts"
import { ExpressionError } from "./expression-error.ts"
import type { ExpressionFinding, VariableReference } from "./finding.ts"
import { intComparison } from "./int-operators.ts"
import { costMaxDefault, endMeter, startMeter } from "./meter.ts"
import type { TreeNode } from "./syntax-tree.ts"
import { type JsonSize, jsonWithin } from "./to-json.ts"
import type { CelType } from "./types.ts"
import { Duration, kindOf } from "./values.ts"

/**
 * Values of the variables by name. A missing one is the error `no-such-key`; properties that every object inherits count as missing.
 *
 * The JavaScript forms of the values, in and out:
 * - bool: boolean
 * - int: bigint (in: also a safe integer number if the declared type is int)
 * - uint: `Uint`
 * - double: number
 * - string: string
 * - bytes: Uint8Array
 * - null: null
 * - list: array
 * - map: `CelMap` or a JSON object (in); `CelMap` or the JSON object that was passed in (out)
 * - timestamp: `Timestamp` (in: also Date)
 * - duration: `Duration`
 * - object types: any object. Declared fields are read as properties (getters and prototypes of classes work), undeclared ones as own properties only.
 *
 * If the type is `dyn`, JSON values are not converted. A whole JSON number in an operation with an int counts as an int.
 */
export type Bindings = Readonly<Record<string, unknown>>

/** Evaluates with these bindings. @throws ExpressionError if there is no value. */
export type CompiledExpression = (bindings: Bindings) => unknown

/** `costMax` limits the work of one evaluation (default: 100,000 steps). An operator or an iteration of a loop is one step; long texts cost more. */
export interface CompileOptions {
  readonly costMax?: number
  /** Called once with everything that the expression reads. */
  readonly onReferences?: (references: readonly VariableReference[]) => void
}

/** The result of a check: the type and the references, or at least one finding. */
export type Checked =
  | { readonly ok: true; readonly type: CelType; readonly references: readonly VariableReference[] }
  | { readonly ok: false; readonly findings: readonly ExpressionFinding[] }

/** Converts a value to its declared form. @throws ExpressionError if that is impossible. */
function adapted(name: string, value: unknown, adapt: Adapt | undefined): unknown {
  if (value === undefined) throw new ExpressionError("no-such-key", `there is no \`${name}\``)
  return adapt === undefined ? value : adapt(value)
}

/** Reads a variable whose values need no conversion if `typeof` matches. Engines optimize a `typeof` test only if the type is a literal. */
const plainReaders: ReadonlyMap<string, (name: string, adapt: Adapt | undefined) => CelClosure> = new Map([
  [
    "string",
    (name, adapt) => (frame) => {
      const value = (frame.values as Bindings)[name]
      return typeof value === "string" ? value : adapted(name, value, adapt)
    },
  ],
  [
    "bool",
    (name, adapt) => (frame) => {
      const value = (frame.values as Bindings)[name]
      return typeof value === "boolean" ? value : adapted(name, value, adapt)
    },
  ],
  [
    "int",
    (name, adapt) => (frame) => {
      const value = (frame.values as Bindings)[name]
      return typeof value === "bigint" ? value : adapted(name, value, adapt)
    },
  ],
])

/** Reads a variable. Names of `Object.prototype` are looked up as own properties only. */
const readVariable: VariableReader = (name, type, raw) => {
  const adapt = raw ? adaptRawInt : adapterFor(type)
  if (name in Object.prototype) {
    return (frame) => {
      const bindings = frame.values as Bindings
      return adapted(name, Object.hasOwn(bindings, name) ? bindings[name] : undefined, adapt)
    }
  }
  const plain = plainReaders.get(type.name)
  return plain?.(name, adapt) ?? ((frame) => adapted(name, (frame.values as Bindings)[name], adapt))
}

/**
 * Compiles an expression to a function; parsing, checking and overload resolution happen here. @throws TypeError if `checkExpression` has findings for
 * the source: call it first.
 */
export function compileExpression(
  source: string,
  environment: Environment,
  options: CompileOptions = {},
): CompiledExpression {
  const checked = checkSource(source, environment)
  if (!checked.ok) {
    const [first] = checked.findings
    throw new TypeError(`the expression is wrong at ${first?.start}: ${first?.message}`)
  }
  options.onReferences?.(checked.references)
  const compiler = new TreeCompiler({ environment, readVariable, isPartial: false })
  const closure = compiler.compile(checked.tree)
  const costMax = options.costMax ?? costMaxDefault
  const { slots } = compiler
  if (isFree(checked.tree)) return (bindings) => closure({ values: bindings, locals: noLocals })
  if (slots === 0) return (bindings) => run(closure, { values: bindings, locals: noLocals }, costMax)
  return (bindings) => run(closure, { values: bindings, locals: new Array<unknown>(slots) }, costMax)
}

/** Whether an evaluation has no cost. Then it needs no meter, which costs as much as comparing two ints. */
function isFree(node: TreeNode): boolean {
  if (node.kind === "name" || node.kind === "literal") return true
  if (node.kind !== "call" || node.form !== "operator" || intComparison(node.name) === undefined) return false
  return node.args.every((part) => part.type.name === "int" && isFree(part))
}

function run(closure: CelClosure, frame: CelFrame, costMax: number): unknown {
  const before = startMeter(costMax)
  try {
    return closure(frame)
  } finally {
    endMeter(before)
  }
}

/**
 * The text of a value inside `${…}`. A string is unchanged; bool, int, uint, double, timestamp (RFC 3339) and duration (`90s`) are written as by CEL's
 * `string()`. @throws ExpressionError `type` for lists, maps, null and other values.
 */
export function toText(value: unknown): string {
  const text = textOf(value)
  if (text === undefined)
    throw new ExpressionError("type", `a ${kindOf(value)} cannot be converted to a string`)
  return text
}

/** The seconds of a duration, truncated towards zero; undefined for other values. */
export function toSeconds(value: unknown): number | undefined {
  return value instanceof Duration ? Number(value.nanoseconds / 1_000_000_000n) : undefined
}

/**
 * The JSON of a value. An int or uint becomes a number if that is exact, otherwise a string (as in protobuf's JSON). Timestamps and durations become
 * strings, bytes base64. @throws ExpressionError `type` for values without JSON (NaN, infinities, types), `cost` for more than `most` (default: 60,000
 * values and 2 MiB of text).
 */
export function toJson(value: unknown, most?: JsonSize): unknown {
  return jsonWithin(value, most)
}

/**
 * Parses and type-checks. Never throws and never runs long, whatever the source is. With `expected`, a result that cannot have that type is a finding,
 * too (`dyn` can be any type, and is checked when it is evaluated).
 */
export function checkExpression(source: string, environment: Environment, expected?: CelType): Checked {
  const checked = checkSource(source, environment, expected)
  if (!checked.ok) return checked
  return { ok: true, type: checked.tree.type.text, references: checked.references }
}
