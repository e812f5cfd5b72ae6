import * as z from "zod"
import { claimRule, credentialSource, tokenFacts, tokenStatuses } from "../caller-token.ts"
import { defineStep } from "../define-step.ts"
import { named } from "../facts.ts"
import { count, variableName } from "../step-values.ts"
import { name, text } from "../text.ts"

/** As `validate-jwt` for opaque tokens: the introspection endpoint says whether it counts, and its claims (RFC 7662). No answer: 503. */
export const introspect = defineStep(
  "introspect",
  { role: "credential", rehearsed: "run" },
  {
    introspection: name,
    from: credentialSource,
    claims: z.array(claimRule).max(50),
    audiences: z.array(text).max(100).optional(),
    status: count,
    claimStatus: count,
    message: text.optional(),
    output: variableName.optional(),
  },
  (step) => ({
    ...tokenFacts(step, [`service:${step.introspection}`]),
    statuses: tokenStatuses(step),
    names: named("introspections", "introspection", step.introspection),
  }),
)
