import type { CompiledCondition } from "./condition.ts"
import { type ParameterLimits, valuesOfRegions } from "./condition-limits.ts"
import { jsonWithin } from "./to-json.ts"

/** Combinations of values that are tried for one set of conditions. */
const triesMax = 4_096

/** A condition, and the values that are known for it. */
export interface ConditionCase {
  readonly condition: CompiledCondition
  readonly known: Readonly<Record<string, unknown>>
}

/** Which of several conditions are true, and values of the parameters under which that is so, as JSON. */
export interface JointTruth {
  readonly truths: readonly boolean[]
  readonly context: Readonly<Record<string, unknown>>
}

/**
 * All ways in which several conditions can be true and false together, each once; `hour < 12` is never true without `hour < 13`. A parameter that two
 * of them lack has one value for both. Undefined: they do more than compare single parameters with known values, or have too many parameters, so
 * nothing is known.
 */
export function jointTruths(cases: readonly ConditionCase[]): JointTruth[] | undefined {
  const limits = new Map<string, ParameterLimits>()
  for (const { condition, known } of cases) {
    const own = condition.limits({ stored: known })
    if (own === undefined) return undefined
    for (const [name, { type, values }] of own) {
      const other = limits.get(name)
      if (other !== undefined && other.type !== type) return undefined
      limits.set(name, { type, values: [...(other?.values ?? []), ...values] })
    }
  }
  const names = [...limits.keys()].sort()
  const choices = names.map((name) => valuesOfRegions(limits.get(name) as ParameterLimits))
  if (choices.some((each) => each === undefined)) return undefined
  if (choices.reduce((count, each) => count * (each?.length ?? 0), 1) > triesMax) return undefined
  return tried(cases, names, choices as unknown[][])
}

function tried(
  cases: readonly ConditionCase[],
  names: readonly string[],
  choices: readonly (readonly unknown[])[],
): JointTruth[] | undefined {
  const found = new Map<string, JointTruth>()
  const chosen = names.map(() => 0)
  for (;;) {
    const values = Object.fromEntries(names.map((name, at) => [name, choices[at]?.[chosen[at] ?? 0]]))
    const truths = cases.map(({ condition, known }) => condition.evaluate({ stored: known, request: values }))
    // An error is neither true nor false: then nothing is said.
    if (truths.some((truth) => typeof truth !== "boolean")) return undefined
    const key = truths.join()
    if (!found.has(key))
      found.set(key, { truths: truths as boolean[], context: jsonWithin(values) as JointTruth["context"] })
    let at = 0
    for (; at < chosen.length; at++) {
      chosen[at] = ((chosen[at] ?? 0) + 1) % (choices[at]?.length ?? 1)
      if (chosen[at] !== 0) break
    }
    if (at === chosen.length) return [...found.values()]
  }
}
