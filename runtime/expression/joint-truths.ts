import type { CompiledCondition } from "./condition.ts"
import type { ParameterLimits } from "./condition-limits.ts"
import { valuesOfRegions } from "./region-values.ts"
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
 * of them lack has one value for both. Undefined: they do more than compare parameters with known values and with each other, or have too many
 * parameters, so nothing is known.
 */
export function jointTruths(cases: readonly ConditionCase[]): JointTruth[] | undefined {
  const limits = new Map<string, ParameterLimits>()
  for (const { condition, known } of cases) {
    const own = condition.limits({ stored: known })
    if (own === undefined) return undefined
    for (const [name, found] of own) {
      const other = limits.get(name)
      if (other !== undefined && other.type !== found.type) return undefined
      limits.set(name, other === undefined ? found : joined([other, found]))
    }
  }
  const names = [...limits.keys()].sort()
  const choices = names.map((name) => {
    const group = comparedWith(name, limits).map((each) => limits.get(each) as ParameterLimits)
    return valuesOfRegions(joined(group as [ParameterLimits, ...ParameterLimits[]]), group.length)
  })
  if (choices.some((each) => each === undefined)) return undefined
  if (choices.reduce((count, each) => count * (each?.length ?? 0), 1) > triesMax) return undefined
  return tried(cases, names, choices as unknown[][])
}

/** The parameters that are compared with one, directly or through others, and itself: what is a limit of one is a limit of all. */
function comparedWith(name: string, limits: ReadonlyMap<string, ParameterLimits>): string[] {
  const found = [name]
  for (const each of found)
    for (const other of limits.get(each)?.others ?? []) if (!found.includes(other)) found.push(other)
  return found
}

function joined(all: readonly [ParameterLimits, ...ParameterLimits[]]): ParameterLimits {
  return {
    type: all[0].type,
    values: all.flatMap(({ values }) => values),
    isOrdered: all.some(({ isOrdered }) => isOrdered),
    others: all.flatMap(({ others }) => others),
  }
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
