import type { Step, StepOf } from "./steps.ts"

const kinds = ["validate-jwt", "introspect", "basic-auth", "validate-key"] as const

/** A step that lets in who shows a credential, and tells who that is: a token, a password, a subscription key. `any-of` tries several. */
export type WayIn = StepOf<(typeof kinds)[number]>

const known: ReadonlySet<Step["kind"]> = new Set(kinds)

/** Whether a step is a way in. */
export function isWayIn(step: Step): step is WayIn {
  return known.has(step.kind)
}
