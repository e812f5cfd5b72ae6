import { type ConditionSource, compileCondition } from "./condition.ts"
import { jointTruths } from "./joint-truths.ts"
import { compareTests, compareTruth } from "./same-outcome.ts"

/**
 * How the contexts compare in which two conditions are true. `narrower`: a context in which the new one is true is one in which the old one is.
 * `other`: no relation is proved, or there is none.
 */
export type ConditionRelation = "same" | "narrower" | "wider" | "other"

/** The relation of two conditions with the same parameters, and contexts that show it, as far as they are known. */
export interface ConditionComparison {
  readonly relation: ConditionRelation
  /** A context in which only the old condition is true. */
  readonly onlyOld?: Readonly<Record<string, unknown>>
  /** A context in which only the new condition is true. */
  readonly onlyNew?: Readonly<Record<string, unknown>>
}

/**
 * Compares two conditions that declare the same parameters. Those that only compare parameters with constants are decided exactly, in all regions
 * between the constants: from `hour < 12` to `hour < 13` is `wider`, with `{"hour":12}`. Others by the logic of their parts. Never throws.
 */
export function compareConditions(old: ConditionSource, next: ConditionSource): ConditionComparison {
  const [was, is] = [old.expression, next.expression]
  if (was === is || compareTests(was, is, true) === "same") return { relation: "same" }
  return comparedByRegions(old, next) ?? { relation: compareTruth(was, is) }
}

function comparedByRegions(old: ConditionSource, next: ConditionSource): ConditionComparison | undefined {
  const [first, second] = [compileCondition(old), compileCondition(next)]
  if (!first.ok || !second.ok) return undefined
  const conditions = [first.condition, second.condition] as const
  const ways = jointTruths(conditions.map((condition) => ({ condition, known: {} })))
  if (ways === undefined) return undefined
  const onlyOld = ways.find(({ truths: [was, is] }) => was === true && is === false)?.context
  const onlyNew = ways.find(({ truths: [was, is] }) => was === false && is === true)?.context
  const shown = {
    ...(onlyOld === undefined ? {} : { onlyOld }),
    ...(onlyNew === undefined ? {} : { onlyNew }),
  }
  if (onlyNew !== undefined) return { relation: onlyOld === undefined ? "wider" : "other", ...shown }
  // Without a parameter that only one of them reads, only that one fails.
  const [a, b] = conditions.map(({ used }) => used.join())
  return { relation: onlyOld === undefined && a === b ? "same" : "narrower", ...shown }
}
