import type { Adapt } from "./adapt.ts"
import { checkSource } from "./check-source.ts"
import { type CelClosure, noLocals } from "./closures.ts"
import { TreeCompiler, type VariableReader } from "./compile-tree.ts"
import { ConditionLimits, type ParameterLimits } from "./condition-limits.ts"
import { contextConverter } from "./condition-values.ts"
import { environmentOf } from "./environment.ts"
import { ExpressionError } from "./expression-error.ts"
import type { ExpressionFinding } from "./finding.ts"
import { costMaxDefault, endMeter, startMeter } from "./meter.ts"
import { reservedWords } from "./source-characters.ts"
import type { TreeNode } from "./syntax-tree.ts"
import { type CelTypeTree, listOf, mapOf, simpleTypes } from "./types.ts"
import { UnknownValue } from "./unknown.ts"

/** A parameter's type in OpenFGA's JSON: `TYPE_NAME_LIST` with one generic type, … */
export interface ConditionParameterType {
  readonly type_name: string
  readonly generic_types?: readonly ConditionParameterType[] | undefined
}

/** A condition of an authorization model. It has the structure of `Condition` in the plan. */
export interface ConditionSource {
  readonly name: string
  readonly expression: string
  readonly parameters?: Readonly<Record<string, ConditionParameterType>> | undefined
}

/** Where the values come from: a function by name, or the context stored with the tuple (takes precedence) and the context of the request. */
export type ConditionContext =
  | ((name: string) => unknown)
  | {
      readonly stored?: Readonly<Record<string, unknown>> | undefined
      readonly request?: Readonly<Record<string, unknown>> | undefined
    }

/**
 * `missing` lists the parameters on which the outcome depends and that the context lacks, sorted. `error` is the reason why there is no outcome (a value
 * of a wrong type, an overflow, the cost limit), in lower case.
 */
export type ConditionOutcome = boolean | { readonly missing: readonly string[] } | { readonly error: string }

/**
 * Which parameters a context must have. `needed`: those on which the outcome depends. `read`: for an outcome other than false, every parameter that the
 * expression reads, even if it cannot change the outcome; this is what OpenFGA requires.
 */
export type ConditionDemand = "needed" | "read"

/** A compiled condition. `parameters` are the declared names, sorted; `used` are those the expression reads. */
export interface CompiledCondition {
  readonly name: string
  readonly parameters: readonly string[]
  readonly used: readonly string[]
  /**
   * Never throws. Values are converted on first use, so a malformed value that is not used is no error. `demand` is `needed` by default. The result is
   * never true or false if a missing parameter could change it.
   */
  evaluate(context: ConditionContext, demand?: ConditionDemand): ConditionOutcome
  /**
   * What the condition compares the parameters with that the context lacks. Undefined when it does more than compare single parameters with known
   * values. Never throws.
   */
  limits(context: ConditionContext): ReadonlyMap<string, ParameterLimits> | undefined
}

/** A condition, or its findings. */
export type ConditionCompilation =
  | { readonly ok: true; readonly condition: CompiledCondition }
  | { readonly ok: false; readonly findings: readonly ExpressionFinding[] }

/** The types of parameters by their names in OpenFGA's API. */
const simpleParameters: ReadonlyMap<string, CelTypeTree> = new Map([
  ["TYPE_NAME_ANY", simpleTypes.dyn],
  ["TYPE_NAME_BOOL", simpleTypes.bool],
  ["TYPE_NAME_STRING", simpleTypes.string],
  ["TYPE_NAME_INT", simpleTypes.int],
  ["TYPE_NAME_UINT", simpleTypes.uint],
  ["TYPE_NAME_DOUBLE", simpleTypes.double],
  ["TYPE_NAME_DURATION", simpleTypes.duration],
  ["TYPE_NAME_TIMESTAMP", simpleTypes.timestamp],
  ["TYPE_NAME_IPADDRESS", simpleTypes.ipaddress],
])
const nestingMax = 16

/** The type of a parameter; undefined if the type does not exist, or has a missing or surplus element type. */
function parameterType(parameter: ConditionParameterType, depth = 0): CelTypeTree | undefined {
  const generics = parameter.generic_types ?? []
  const simple = simpleParameters.get(parameter.type_name)
  if (simple !== undefined) return generics.length === 0 ? simple : undefined
  const [generic] = generics
  const element =
    generic === undefined || generics.length > 1 || depth > nestingMax
      ? undefined
      : parameterType(generic, depth + 1)
  if (element === undefined) return undefined
  if (parameter.type_name === "TYPE_NAME_LIST") return listOf(element)
  return parameter.type_name === "TYPE_NAME_MAP" ? mapOf(simpleTypes.string, element) : undefined
}

interface Parameter {
  readonly name: string
  readonly index: number
  readonly type: CelTypeTree
  readonly convert: Adapt
}

/** The declared parameters. Their index is their place among the values of an evaluation. */
function parametersOf(condition: ConditionSource): {
  parameters: Map<string, Parameter>
  wrong: ExpressionFinding[]
} {
  const parameters = new Map<string, Parameter>()
  const wrong: ExpressionFinding[] = []
  for (const [name, declared] of Object.entries(condition.parameters ?? {})) {
    const type = parameterType(declared)
    if (type === undefined) {
      const message = `the type of the parameter \`${name}\` is not one`
      wrong.push({ kind: "type", message, start: 0, end: 0, name })
    } else {
      parameters.set(name, { name, type, index: parameters.size, convert: contextConverter(type) })
    }
  }
  return { parameters, wrong }
}

function fail(name: string, error: unknown): ExpressionError {
  if (!(error instanceof ExpressionError)) throw error
  return new ExpressionError("type", `failed to convert context parameter '${name}': ${error.message}`)
}

/**
 * The values of one evaluation, twice as many as parameters: first the given values, then the converted ones. A value is converted on first use, because
 * a malformed value that is not used is no error.
 */
type Cells = unknown[]

/** Reads a parameter, converted once for each evaluation. A missing one is unknown instead of an error. */
function readParameter(parameters: ReadonlyMap<string, Parameter>): VariableReader {
  const { size } = parameters
  return (name, _, raw) => {
    const parameter = parameters.get(name)
    if (parameter === undefined) throw new Error(`the parameter ${name} passed the check but is not declared`)
    const { index, convert } = parameter
    const unknown = new UnknownValue([name])
    const slowly: CelClosure = (frame) => {
      const cells = frame.values as Cells
      const known = cells[size + index]
      if (known !== undefined) return known
      const given = cells[index]
      if (given === undefined) return unknown
      try {
        const value = convert(given)
        cells[size + index] = value
        return value
      } catch (error) {
        throw fail(name, error)
      }
    }
    if (!raw) return slowly
    // A whole JSON number is sufficient for comparisons of ints.
    return (frame) => {
      const given = (frame.values as Cells)[index]
      return typeof given === "number" && Number.isSafeInteger(given) ? given : slowly(frame)
    }
  }
}

function own(object: Readonly<Record<string, unknown>> | undefined, name: string): unknown {
  return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined
}

function valueIn(context: ConditionContext, name: string): unknown {
  if (typeof context === "function") return context(name)
  const value = context.stored === undefined ? undefined : own(context.stored, name)
  return value === undefined ? own(context.request, name) : value
}

/** The outcome of a run: true, false, the missing parameters or an error. */
function outcomeOf(run: Runner, cells: Cells): ConditionOutcome {
  try {
    const value = run(cells)
    if (typeof value === "boolean") return value
    if (value instanceof UnknownValue) return { missing: [...value.names].sort() }
    return { error: "the condition is not bool" }
  } catch (error) {
    if (error instanceof ExpressionError) return { error: error.message }
    throw error
  }
}

/** A condition that runs with all parameters, or with some of them missing. */
class Condition implements CompiledCondition {
  readonly name: string
  readonly parameters: readonly string[]
  readonly used: readonly string[]
  private readonly declared: readonly Parameter[]
  private readonly read: readonly Parameter[]
  private readonly whole: Runner
  private readonly makePartial: () => Runner
  // Compiled on first use, when a parameter is missing: most conditions never need it.
  private partial: Runner | undefined
  private readonly makeLimits: () => ConditionLimits
  private known: ConditionLimits | undefined

  /** `used`: the parameters that the expression reads; others are not needed for its value. */
  constructor(
    name: string,
    parameters: ReadonlyMap<string, Parameter>,
    used: ReadonlySet<string>,
    make: (isPartial: boolean) => Runner,
    makeLimits: () => ConditionLimits,
  ) {
    this.name = name
    this.declared = Array.from(parameters.values())
    this.read = this.declared.filter((parameter) => used.has(parameter.name))
    this.parameters = Array.from(parameters.keys()).sort()
    this.used = [...used].sort()
    this.whole = make(false)
    this.makePartial = () => make(true)
    this.makeLimits = makeLimits
  }

  /** Runs the condition. With missing parameters it may still be false or true, if they do not matter. */
  evaluate(context: ConditionContext, demand: ConditionDemand = "needed"): ConditionOutcome {
    const cells: Cells = new Array(this.declared.length * 2)
    let isWhole = true
    for (const parameter of this.read) {
      const given = valueIn(context, parameter.name)
      cells[parameter.index] = given
      if (given === undefined) isWhole = false
    }
    if (isWhole) return outcomeOf(this.whole, cells)
    this.partial ??= this.makePartial()
    const outcome = outcomeOf(this.partial, cells)
    if (demand === "needed" || outcome === false) return outcome
    return { missing: this.used.filter((name) => valueIn(context, name) === undefined) }
  }

  limits(context: ConditionContext): ReadonlyMap<string, ParameterLimits> | undefined {
    const cells: Cells = new Array(this.declared.length * 2)
    const missing = new Set<string>()
    for (const { name, index } of this.read) {
      cells[index] = valueIn(context, name)
      if (cells[index] === undefined) missing.add(name)
    }
    this.known ??= this.makeLimits()
    return this.known.read(missing, cells)
  }
}

type Runner = (cells: Cells) => unknown

/** Compiles a condition, or returns its findings. A finding without a place in the expression (a parameter's type) has start and end 0. */
export function compileCondition(condition: ConditionSource): ConditionCompilation {
  const { parameters, wrong } = parametersOf(condition)
  if (wrong.length > 0) return { ok: false, findings: wrong }
  // OpenFGA allows a reserved word as the name of a parameter, but no expression can read it.
  const readable = Array.from(parameters.values()).filter(({ name }) => !reservedWords.has(name))
  const environment = environmentOf(new Map(readable.map(({ name, type }) => [name, type])), new Map())
  const checked = checkSource(condition.expression, environment, "bool")
  if (!checked.ok) return { ok: false, findings: checked.findings }
  const readVariable = readParameter(parameters)
  const make = (isPartial: boolean, node: TreeNode = checked.tree): Runner => {
    const compiler = new TreeCompiler({ environment, readVariable, isPartial })
    const closure = compiler.compile(node)
    const { slots } = compiler
    return (cells) => {
      const before = startMeter(costMaxDefault)
      try {
        return closure({ values: cells, locals: slots === 0 ? noLocals : new Array<unknown>(slots) })
      } finally {
        endMeter(before)
      }
    }
  }
  const used = new Set(checked.references.map(({ path }) => path[0] ?? ""))
  const makeLimits = () =>
    new ConditionLimits({
      tree: checked.tree,
      typeOf: (name) => parameters.get(name)?.type.name,
      compile: (node) => make(false, node),
    })
  return { ok: true, condition: new Condition(condition.name, parameters, used, make, makeLimits) }
}

/**
 * The problem of a context that is about to be stored with a tuple: an unknown parameter, or a value that cannot be converted. Undefined if there is
 * none. Missing parameters are allowed: the request can supply them.
 */
export function checkContext(
  condition: ConditionSource,
  context: Readonly<Record<string, unknown>>,
): string | undefined {
  const { parameters } = parametersOf(condition)
  for (const [name, value] of Object.entries(context)) {
    const parameter = parameters.get(name)
    if (parameter === undefined) return `found invalid context parameter: ${name}`
    try {
      parameter.convert(value)
    } catch (error) {
      return fail(name, error).message
    }
  }
  return undefined
}
