import { defineCredential } from "../define-step.ts"
import { named } from "../facts.ts"
import { tokenDemands, tokenFacts, tokenOutcome } from "../step-values.ts"
import { name } from "../text.ts"

/** Like `validate-jwt`, for opaque tokens: the introspection endpoint decides whether the token is valid and returns its claims (RFC 7662). No response: 503. */
export const introspect = defineCredential(
  "introspect",
  { introspection: name, ...tokenDemands, ...tokenOutcome },
  (step) => ({
    ...tokenFacts(step, [`service:${step.introspection}`]),
    names: named("introspections", "introspection", step.introspection),
  }),
)
