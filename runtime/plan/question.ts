import * as z from "zod"
import { type NamedResource, named } from "./facts.ts"
import type { Place } from "./places.ts"
import { expression, name, text } from "./text.ts"

/** Values found per request, by name. */
export const namedValues = z
  .array(z.strictObject({ key: z.string().min(1).max(256), value: expression }))
  .max(100)
  .optional()

/** Who is asked, one of the two: a store of the engine, or a decision point. */
const asked = { store: name.optional(), pdp: name.optional() }

/**
 * What every question may bring along: values for conditions; to the engine tuples that count for this question only, to a decision point properties of subject,
 * resource and action.
 */
const circumstances = {
  context: namedValues,
  properties: z.strictObject({ subject: namedValues, resource: namedValues, action: namedValues }).optional(),
  tuples: z
    .array(z.strictObject({ user: text, relation: z.string(), object: text }))
    .max(20)
    .optional(),
}

/** The fields of a step that asks whether `user` has `relation` on `object`. */
export const relationQuestion = { ...asked, relation: z.string(), object: text, user: text, ...circumstances }

export type RelationQuestion = z.infer<z.ZodObject<typeof relationQuestion, z.core.$strict>>

/** Who decides: the tuples of a store, or a service outside. */
export function decider({ store, pdp }: Pick<RelationQuestion, "store" | "pdp">): Place {
  return pdp === undefined ? `tuples:${store ?? ""}` : `service:${pdp}`
}

/** The store or the decision point that is asked. */
export function namedDecider({ store, pdp }: Pick<RelationQuestion, "store" | "pdp">): NamedResource[] {
  return [
    ...(store === undefined ? [] : named("stores", "store", store)),
    ...(pdp === undefined ? [] : named("pdps", "pdp", pdp)),
  ]
}
