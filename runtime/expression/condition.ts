import type { Adapt } from "./adapt.ts"
import { checkSource } from "./check-source.ts"
import { MissingError } from "./closures.ts"
import { TreeCompiler, type VariableReader } from "./compile-tree.ts"
import { contextConverter } from "./condition-values.ts"
import type { Environment } from "./environment.ts"
import { ExpressionError } from "./expression-error.ts"
import type { ExpressionFinding } from "./finding.ts"
import { costMaxDefault, metered } from "./meter.ts"
import { type CelTypeTree, listOf, mapOf, simpleTypes } from "./types.ts"

/** A parameter's type in OpenFGA's JSON: `TYPE_NAME_LIST` with one generic type, … */
export interface ConditionParameterType {
  readonly type_name: string
  readonly generic_types?: readonly ConditionParameterType[] | undefined
}

/** A condition of an authorization model, structurally the `Condition` of the plan's contract. */
export interface ConditionSource {
  readonly name: string
  readonly expression: string
  readonly parameters?: Readonly<Record<string, ConditionParameterType>> | undefined
}

/** Where the values come from: a function by name, or the context stored with the tuple (which wins) and that of the request. */
export type ConditionContext =
  | ((name: string) => unknown)
  | {
      readonly stored?: Readonly<Record<string, unknown>> | undefined
      readonly request?: Readonly<Record<string, unknown>> | undefined
    }

/**
 * `missing` lists every parameter the outcome depends on that the context lacks, sorted; `error` says why there is no
 * outcome (a value of a wrong type, an overflow, the cost limit), lower-case.
 */
export type ConditionOutcome = boolean | { readonly missing: readonly string[] } | { readonly error: string }

/** A condition ready for evaluation. `parameters` are the declared names, sorted; `used` those the expression reads. */
export interface CompiledCondition {
  readonly name: string
  readonly parameters: readonly string[]
  readonly used: readonly string[]
  /** Never throws. Values are converted when they are first needed, so a malformed one that does not count does no harm. */
  evaluate(context: ConditionContext): ConditionOutcome
}

/** A condition, or what is wrong with it. */
export type ConditionCompilation =
  | { readonly ok: true; readonly condition: CompiledCondition }
  | { readonly ok: false; readonly findings: readonly ExpressionFinding[] }

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

/** The type of a parameter; undefined when the type does not exist or its element type is missing or too many. */
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

/** The values of one evaluation: converted when first read, because a malformed one that does not count is no error. */
interface Values {
  readonly lookup: (name: string) => unknown
  readonly converted: unknown[]
}

function fail(name: string, error: unknown): ExpressionError {
  if (!(error instanceof ExpressionError)) throw error
  return new ExpressionError("type", `failed to convert context parameter '${name}': ${error.message}`)
}

function readParameter(parameters: ReadonlyMap<string, Parameter>): VariableReader {
  return (name) => {
    const parameter = parameters.get(name)
    if (parameter === undefined) throw new Error(`the parameter ${name} passed the check but is not declared`)
    const { index, convert } = parameter
    return (frame) => {
      const { lookup, converted } = frame.values as Values
      const known = converted[index]
      if (known !== undefined) return known
      const given = lookup(name)
      if (given === undefined) throw new MissingError([name])
      try {
        const value = convert(given)
        converted[index] = value
        return value
      } catch (error) {
        throw fail(name, error)
      }
    }
  }
}

function own(object: Readonly<Record<string, unknown>> | undefined, name: string): unknown {
  return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined
}

function lookupIn(context: ConditionContext): (name: string) => unknown {
  if (typeof context === "function") return context
  const { stored, request } = context
  return (name) =>
    own(stored, name) ?? (stored !== undefined && Object.hasOwn(stored, name) ? null : own(request, name))
}

class Condition implements CompiledCondition {
  readonly name: string
  readonly parameters: readonly string[]
  readonly used: readonly string[]
  private readonly run: Runner
  private readonly makeCollector: () => Runner
  // Made only when something was missing: most conditions never need it.
  private collector: Runner | undefined

  constructor(
    name: string,
    parameters: Iterable<string>,
    used: Iterable<string>,
    make: (collect: boolean) => Runner,
  ) {
    this.name = name
    this.parameters = [...parameters].sort()
    this.used = [...new Set(used)].sort()
    this.run = make(false)
    this.makeCollector = () => make(true)
  }

  evaluate(context: ConditionContext): ConditionOutcome {
    const lookup = lookupIn(context)
    try {
      return this.run(lookup)
    } catch (error) {
      if (!(error instanceof MissingError)) return outcomeOf(error)
    }
    try {
      this.collector ??= this.makeCollector()
      return this.collector(lookup)
    } catch (error) {
      return outcomeOf(error)
    }
  }
}

function outcomeOf(error: unknown): ConditionOutcome {
  if (error instanceof MissingError) return { missing: [...error.names].sort() }
  if (error instanceof ExpressionError) return { error: error.message }
  throw error
}

type Runner = (lookup: (name: string) => unknown) => boolean

/** Compiles, or says what is wrong. A finding without a place in the expression (a parameter's type) has start and end 0. */
export function compileCondition(condition: ConditionSource): ConditionCompilation {
  const { parameters, wrong } = parametersOf(condition)
  if (wrong.length > 0) return { ok: false, findings: wrong }
  const variables = new Map(Array.from(parameters.values(), ({ name, type }) => [name, type]))
  const environment: Environment = { variables, objects: new Map() }
  const checked = checkSource(condition.expression, environment, "bool")
  if (!checked.ok) return { ok: false, findings: checked.findings }
  const readVariable = readParameter(parameters)
  const make = (collect: boolean): Runner => {
    const compiler = new TreeCompiler({ environment, readVariable, collect })
    const closure = compiler.compile(checked.tree)
    const { slots } = compiler
    return (lookup) => {
      const frame = { values: { lookup, converted: [] }, locals: new Array<unknown>(slots) }
      const value = metered(costMaxDefault, closure, frame)
      if (typeof value === "boolean") return value
      throw new ExpressionError("type", "the condition is not bool")
    }
  }
  const used = checked.references.map(({ path }) => path[0] ?? "")
  return { ok: true, condition: new Condition(condition.name, parameters.keys(), used, make) }
}

/**
 * What is wrong with a context that is to be stored with a tuple: an unknown parameter, a value that can't be converted.
 * Undefined when it is right. Missing parameters are no fault: the request may bring them.
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
