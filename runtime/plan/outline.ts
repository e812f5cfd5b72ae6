import * as z from "zod"

/** The element of a policy document that a step was made of, in the words of Azure API Management's `LastError`. */
export const policyElement = z.strictObject({
  /** Name of the policy: `validate-jwt`. */
  source: z.string().min(1).max(128),
  scope: z.enum(["global", "product", "api", "operation"]),
  /** Inside of its section: `choose[1]/when[2]/set-header[1]`. */
  path: z.string().max(8192),
  /** Its `id`, where its author gave one. */
  id: z.string().max(1024).optional(),
})
export type PolicyElement = z.infer<typeof policyElement>

/** Elements of a route's steps, by the step's index path: `inbound.3.matched.0`. Steps of gateway.conf's own statements have none. */
export const outline = z.record(z.string(), policyElement)
export type Outline = z.infer<typeof outline>
