import { expressionReads } from "../../runtime/expression/reads.ts"
import { meets } from "../../runtime/plan/places.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import { expressionsOf, factsOf, type Step, variablesSetBy } from "../../runtime/plan/steps.ts"
import { closes, type Finding, opens } from "../analysis/finding.ts"
import { variableDiffers } from "../analysis/variable-readers.ts"
import { inside, touchOf } from "./step-touch.ts"

type Steps = PlanBody["steps"]

/**
 * The part of a difference that is common to all kinds of steps. `gone`: steps that no longer run for some requests; `come`: steps that now
 * run for more requests; `changed`: steps that may produce other values.
 */
export interface Difference {
  readonly gone: readonly Expressive[]
  readonly come: readonly Expressive[]
  readonly changed: readonly Expressive[]
}

/** A step, and the plan's steps to look up those inside it. `alone`: without the steps inside it. */
interface Expressive {
  readonly step: Step
  readonly steps: Steps
  readonly alone?: boolean
}

/**
 * Adds findings to those of the kind's own rules: a variable that other steps use may have another value, and an expression that fails for
 * requests without a value is removed or added. Added only if the rules have no finding of the same or a worse risk.
 */
export function withBesides(findings: readonly Finding[], difference: Difference, after: Steps): Finding[] {
  const has = (...risks: readonly string[]) => findings.some(({ risk }) => risks.includes(risk))
  if (has("opens")) return [...findings]
  const names = new Set(
    difference.changed.flatMap((each) => [...variablesOf(each), ...keptVariablesOf(each, after)]),
  )
  const used = [...names]
    .map((name) => variableDiffers(`\`${name}\` may have another value`, name, after))
    .filter(({ risk }) => risk !== "neutral")
  const [gone, come] = [difference.gone, difference.come].map((list) => new Set(list.flatMap(mayFail)))
  const lost = [...(gone ?? [])].filter((text) => !come?.has(text))
  const got = [...(come ?? [])].filter((text) => !gone?.has(text))
  return [
    ...findings,
    ...used,
    ...lost.map((text) => opens(`requests for which \`${text}\` has no value failed and now continue`)),
    ...(has("breaking", "closes")
      ? []
      : got.map((text) => closes(`requests for which \`${text}\` has no value now fail`))),
  ]
}

/** The names of the variables that a step, or a step inside of it, may set. */
function variablesOf({ step, steps, alone }: Expressive): string[] {
  // How often and how long the inner steps run decides which values they produce.
  const within = factsOf(step).repeats === undefined ? [] : inside(step, steps)
  const parts = alone
    ? [factsOf(step), ...within.map((each) => touchOf(each, steps))]
    : [touchOf(step, steps)]
  const places = parts.flatMap(({ writes = [], leaves = [] }) => [...writes, ...leaves])
  return places.flatMap((place) => {
    const name = place.startsWith("variable:") ? place.slice("variable:".length) : "*"
    return name === "*" ? [] : [name]
  })
}

/** A step with all steps inside it. */
function allOf(step: Step, steps: Steps): Step[] {
  return [step, ...inside(step, steps).flatMap((each) => allOf(each, steps))]
}

/** Variables that steps of any route read from the cache under a key that this step writes. */
function keptVariablesOf({ step, steps, alone }: Expressive, after: Steps): string[] {
  const kept = (alone ? [step] : allOf(step, steps)).flatMap((each) =>
    each.kind === "cache-set" || each.kind === "cache-remove" || each.kind === "cache-value"
      ? [...(factsOf(each).leaves ?? [])].filter((place) => place.startsWith("cache:"))
      : [],
  )
  if (kept.length === 0) return []
  return Object.values(after).flatMap((reader) =>
    (factsOf(reader).reads ?? []).some((place) => kept.some((each) => meets(place, each)))
      ? variablesSetBy(reader)
      : [],
  )
}

function mayFail({ step, steps, alone }: Expressive): string[] {
  const own = expressionsOf(step).flatMap((expression) =>
    expression.lang === "cel" && expressionReads(expression.text).fails !== "never" ? [expression.text] : [],
  )
  return alone ? own : [...own, ...inside(step, steps).flatMap((each) => mayFail({ step: each, steps }))]
}
