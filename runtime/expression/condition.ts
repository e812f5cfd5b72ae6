import type { ExpressionFinding } from "./check.ts"

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

/** Compiles, or says what is wrong. A finding without a place in the expression (a parameter's type) has start and end 0. */
export declare function compileCondition(
  condition: ConditionSource,
):
  | { readonly ok: true; readonly condition: CompiledCondition }
  | { readonly ok: false; readonly findings: readonly ExpressionFinding[] }

/**
 * What is wrong with a context that is to be stored with a tuple: an unknown parameter, a value that can't be converted.
 * Undefined when it is right. Missing parameters are no fault: the request may bring them.
 */
export declare function checkContext(
  condition: ConditionSource,
  context: Readonly<Record<string, unknown>>,
): string | undefined
