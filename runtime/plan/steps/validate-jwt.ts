import * as z from "zod"
import { defineCredential } from "../define-step.ts"
import { named } from "../facts.ts"
import { count, flag, tokenDemands, tokenFacts, tokenOutcome } from "../step-values.ts"
import { loadText, name, text } from "../text.ts"

/**
 * Verifies a JWT (RFC 7519, 8725) of any of `issuers` (the first whose keys verify it applies). Sets the caller's claims, and the variable `output` to
 * `{claims, header}`. `audiences` and `issuerValues` replace those of the issuers. Failure: `status`, with `WWW-Authenticate` if it is 401 (RFC 6750
 * §3), and optionally `message`; claims not met: `claimStatus`.
 */
export const validateJwt = defineCredential(
  "validate-jwt",
  {
    issuers: z.array(name).min(1).max(20),
    /** Of the issuers in `cases`, only those whose address equals the value of `by` are accepted. */
    chosen: z
      .strictObject({
        by: text,
        cases: z
          .array(z.strictObject({ address: loadText, issuer: name }))
          .min(1)
          .max(20),
      })
      .optional(),
    ...tokenDemands,
    issuerValues: z.array(text).max(100).optional(),
    clockSkewSeconds: count.optional(),
    requireExpiration: flag,
    ...tokenOutcome,
  },
  (step) => ({ ...tokenFacts(step), names: named("issuers", "issuers", ...step.issuers) }),
)
