import * as z from "zod"
import type { StepFacts } from "./facts.ts"
import { type NamedResource, named } from "./facts.ts"
import type { Place } from "./places.ts"

/** What happens on a violation: nothing, a note in variable and log, or 400 (request) and 502 (response). */
export const violationAction = z.enum(["ignore", "detect", "prevent"])

export type ViolationAction = z.infer<typeof violationAction>

/** Which answers a description is for: a status, a class, or all that no other is for. */
export const describedStatus = z.string().regex(/^(default|[1-5]xx|[1-5][0-9]{2})$/)

/** Facts of a step that judges a message. Faults that are let pass are told in the log and in the variable, behind those that are there. */
export function judging(
  { errors }: { readonly errors?: string | undefined },
  actions: readonly unknown[],
  reads: readonly Place[],
): StepFacts {
  const told: Place[] = errors === undefined ? [] : [`variable:${errors}`]
  return {
    reads: [...reads, ...told],
    writes: told,
    leaves: actions.includes("detect") || actions.some((each) => typeof each === "object") ? ["log"] : [],
    // What an expression decides may be `prevent`.
    ends: actions.some((each) => each === "prevent" || typeof each === "object") ? ["refuse"] : [],
  }
}

/** The schemas that rules judge by. */
export function namedSchemas(rules: readonly { readonly schema?: string | undefined }[]): NamedResource[] {
  return named("schemas", "schema", ...rules.flatMap(({ schema }) => (schema === undefined ? [] : [schema])))
}
