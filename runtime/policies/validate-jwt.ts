import type { TokenRules } from "../identity/verifier.ts"
import { verifyAny } from "../identity/verify-any.ts"
import type { StepOf } from "../plan/steps.ts"
import type { Exchange } from "./exchange.ts"
import type { Policy, Provision } from "./policy.ts"
import { compileTexts } from "./texts.ts"
import { compileTokenGuard } from "./token-guard.ts"
import { compileCount, compileFlag } from "./value.ts"

/** Verifies a JWT of any of several issuers, and its claims. */
export const validateJwt: Policy<"validate-jwt"> = (plan, provision) => {
  const verifiers = plan.issuers.map((name) => provision.verifier(name))
  const rules = compileRules(plan, provision)
  return compileTokenGuard(plan, provision, (token, exchange) => verifyAny(verifiers, token, rules(exchange)))
}

const issuersOwn: TokenRules = {}

/** What is demanded here; computed once where no expression is in it. */
function compileRules(
  plan: StepOf<"validate-jwt">,
  provision: Provision,
): (exchange: Exchange) => TokenRules {
  const { audiences, issuerValues, clockSkewSeconds, requireExpiration } = plan
  if (
    audiences === undefined &&
    issuerValues === undefined &&
    clockSkewSeconds === undefined &&
    requireExpiration === true
  )
    return () => issuersOwn
  const audiencesOf = compileTexts(audiences, provision)
  const issuersOf = compileTexts(issuerValues, provision)
  const skewOf = clockSkewSeconds === undefined ? undefined : compileCount(clockSkewSeconds, provision)
  const expires = compileFlag(requireExpiration, provision)
  return (exchange) => ({
    audiences: audiencesOf?.(exchange),
    issuers: issuersOf?.(exchange),
    clockSkewSeconds: skewOf?.(exchange),
    requireExpiration: expires(exchange),
  })
}
