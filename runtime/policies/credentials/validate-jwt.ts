import type { TokenRules, TokenVerifier, Verification } from "../../identity/verifier.ts"
import { verifyAny } from "../../identity/verify-any.ts"
import type { StepOf } from "../../plan/steps.ts"
import type { Exchange } from "../exchange.ts"
import type { Policy, Provision } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { compileTexts } from "../values/texts.ts"
import { compileCount, compileFlag } from "../values/value.ts"
import { compileTokenGuard } from "./token-guard.ts"

/** Verifies a JWT of any of several issuers, and its claims. */
export const validateJwt: Policy<"validate-jwt"> = (plan, provision) => {
  const verifiersOf = compileVerifiers(plan, provision)
  const rules = compileRules(plan, provision)
  return compileTokenGuard(plan, provision, (token, exchange) => {
    const verifiers = verifiersOf(exchange)
    return verifiers.length === 0 ? ofNobody : verifyAny(verifiers, token, rules(exchange))
  })
}

const ofNobody: Verification = {
  kind: "invalid",
  reason: "the token must come from an issuer that is not declared",
  fault: "TokenIssuerNotAllowed",
}

/** The issuers that may have signed the token: all, or those an expression selects. */
function compileVerifiers(
  { issuers, chosen }: StepOf<"validate-jwt">,
  provision: Provision,
): (exchange: Exchange) => readonly TokenVerifier[] {
  const all = issuers.map((name) => ({ name, verifier: provision.verifier(name) }))
  const everyone = all.map(({ verifier }) => verifier)
  if (chosen === undefined) return () => everyone
  const by = compileText(chosen.by, provision, anyText)
  const addresses = new Map(
    chosen.cases.map(({ address, issuer }) => [
      issuer,
      issuerAt(compileText(address, provision, anyText).constant ?? ""),
    ]),
  )
  return (exchange) => {
    const wanted = issuerAt(by.of(exchange))
    return all
      .filter(({ name }) => !addresses.has(name) || addresses.get(name) === wanted)
      .map(({ verifier }) => verifier)
  }
}

/** The discovery address may include the path of the document or not (OpenID Connect Discovery 1.0 section 4). */
function issuerAt(address: string): string {
  return address.replace(/\/?(?:\.well-known\/openid-configuration)?\/?$/, "")
}

const issuersOwn: TokenRules = {}

/** The rules for tokens; computed once when they contain no expression. */
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
