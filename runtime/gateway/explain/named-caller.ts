import type { OpaqueTokens } from "../../identity/introspection.ts"
import type { Subscriber } from "../../identity/keys.ts"
import type { Passwords } from "../../identity/users.ts"
import type { Plan } from "../../plan/plan.ts"
import type { CredentialSource } from "../../plan/step-values.ts"
import { isCredential, type StepOf, type Step as StepPlan, shownTo } from "../../plan/steps.ts"
import { basicAuthorization } from "../../policies/credentials/authentication.ts"
import type { Exchange } from "../../policies/exchange.ts"
import type { Outcome } from "../../policies/policy.ts"
import { assumedCredential } from "./effectless.ts"
import type { Rehearsal } from "./rehearsal.ts"
import type { RequestQuestion } from "./request-explanation.ts"

/** Judges opaque tokens without calling the endpoint: it accepts the named caller and cached results. */
export function unaskedIntrospection(
  real: OpaqueTokens,
  name: string,
  { claims }: RequestQuestion,
  rehearsal: Rehearsal,
): OpaqueTokens {
  const known: OpaqueTokens["known"] = (token, audiences) => {
    if (token === assumedCredential && claims !== undefined) return { kind: "verified", claims, header: {} }
    const found = real.known(token, audiences)
    if (found !== undefined) rehearsal.note(`from the last response of \`${name}\``)
    return found
  }
  return {
    known,
    verify(token, audiences) {
      const found = known(token, audiences)
      if (found !== undefined) return found
      rehearsal.assumeCaller(
        `\`${name}\` is not called here: an active token with the required claims is let through, any other is refused`,
      )
      return { kind: "verified", claims: {}, header: {} }
    },
  }
}

/** Checks passwords; for the named caller the name is enough. */
export function assumingPasswords(real: Passwords, { claims }: RequestQuestion): Passwords {
  return {
    has: (user) => real.has(user),
    verify: (user, password) =>
      password === assumedCredential && claims !== undefined
        ? user === claims["sub"] && real.has(user)
        : real.verify(user, password),
  }
}

/** The subscription that `sub` names: as declared in the text, otherwise one that opens everything. */
export function subscriberOf({ claims }: RequestQuestion, { plan }: Plan): Subscriber | undefined {
  if (claims === undefined) return undefined
  const name = String(claims["sub"] ?? "")
  const declared = Object.hasOwn(plan.subscriptions, name) ? plan.subscriptions[name] : undefined
  if (declared === undefined) return { name, product: undefined, api: undefined, all: true }
  const { scope } = declared
  return {
    name,
    product: "product" in scope ? scope.product : undefined,
    api: "api" in scope ? scope.api : undefined,
    all: "all" in scope || undefined,
  }
}

/** When the question names only the caller's `sub`, other claims that a step requires must not end the explanation. */
export function lacksClaims(
  { claims = {} }: RequestQuestion,
  step: StepPlan,
  refusal: NonNullable<Outcome>,
): boolean {
  const { sub, ...others } = claims
  if (sub === undefined || Object.keys(others).length > 0) return false
  return isCredential(step) && shownTo(step).is === "token" && isClaimFault(refusal)
}

/** Whether a step requires a signature of the caller named in the question. An absent `sub` names any caller. */
export function signsAs({ claims }: RequestQuestion, step: StepPlan): step is StepOf<"validate-hmac"> {
  if (claims === undefined || step.kind !== "validate-hmac") return false
  return claims["sub"] === undefined || claims["sub"] === step.caller
}

/** Whether a token was refused because of its claims. */
export function isClaimFault(refusal: NonNullable<Outcome>): boolean {
  return refusal.kind === "problem" && claimFaults.has(refusal.reason ?? "")
}

const claimFaults: ReadonlySet<string> = new Set(["TokenClaimNotFound", "TokenClaimValueNotAllowed"])

/** Puts the credential where the step reads it. */
export function present({ claims, key, token }: RequestQuestion, step: StepPlan, exchange: Exchange): void {
  if (!isCredential(step)) return
  const shown = shownTo(step)
  // It belongs to the connection: `explain-request.ts` assumes it after the step.
  if (shown.is === "certificate") return
  // It depends on the whole request: `explain-request.ts` assumes it after the step.
  if (shown.is === "signature") return
  // Only the gateway can seal a session: `explain-request.ts` assumes it after the step.
  if (shown.is === "session") return
  const given = { key, token, password: undefined }[shown.is]
  const value = claims === undefined ? given : assumedCredential
  if (value === undefined) return
  if (shown.is === "token") putToken(shown.from, value, exchange)
  else if (shown.is === "password")
    exchange.headers.set("authorization", basicAuthorization(String(claims?.["sub"] ?? ""), value))
  else if (shown.header !== null) exchange.headers.set(shown.header, value)
  else if (shown.query !== null) exchange.query.set(shown.query, value)
}

function putToken(from: CredentialSource, token: string, { headers, query }: Exchange): void {
  if ("header" in from) headers.set(from.header, `${from.scheme ?? "Bearer"} ${token}`)
  else if ("query" in from) query.set(from.query, token)
  else if ("cookie" in from) headers.append("cookie", `${from.cookie}=${token}`)
  else headers.set("authorization", `Bearer ${token}`)
}
