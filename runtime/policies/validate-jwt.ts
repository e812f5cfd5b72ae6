import type { Verification } from "../identity/verifier.ts"
import type { StepOf } from "../plan/steps.ts"
import { type Problem, problem } from "./answer.ts"
import { meets } from "./claim.ts"
import type { Exchange } from "./exchange.ts"
import type { Outcome, Policy } from "./policy.ts"

/** RFC 6750 §2.1. One blank: what a lenient reader here accepts, a strict one behind us may read otherwise. Not a pattern: tokens are long. */
function bearerToken(value: string): string | undefined {
  if (value.length < 8 || value.charCodeAt(6) !== 0x20 || value.slice(0, 6).toLowerCase() !== "bearer")
    return undefined
  return value.includes(" ", 7) || value.includes("\t", 7) ? undefined : value.slice(7)
}

/** Other headers than Authorization have no schemes: the token stands there alone, or behind `Bearer` all the same. */
function tokenIn(header: string, value: string): string | undefined {
  const token = bearerToken(value)
  if (token !== undefined || header === "authorization") return token
  return value === "" || value.includes(" ") || value.includes("\t") ? undefined : value
}

/** Verifies the bearer token and its claims. Failures are those of RFC 6750 §3; the token is never logged. */
export const validateJwt: Policy<"validate-jwt"> = (plan, provision) => {
  const { header } = plan
  const verifier = provision.verifier(plan.issuer)
  const missing = challenge(plan, undefined)
  const doubled = problem("invalid-header", { presented: true, cause: `header ${header} is given twice` })
  const malformed = challenge(
    plan,
    header === "authorization" ? "the header is not of the form `Bearer token`" : "the header is no token",
  )
  const judge = (exchange: Exchange, verification: Verification): Outcome => {
    if (verification.kind === "invalid") return challenge(plan, verification.reason)
    if (verification.kind === "unavailable") return unavailable(verification.retryAfterSeconds)
    for (const rule of plan.claims) if (!meets(verification.claims, rule)) return insufficient(plan)
    exchange.claims = verification.claims
    return undefined
  }
  return (exchange) => {
    const value = exchange.headers.get(header)
    if (value === undefined) return missing
    if (header !== "authorization" && exchange.headers.count(header) > 1) return doubled
    const token = tokenIn(header, value)
    if (token === undefined) {
      // Another scheme (Basic, say) is a credential for someone else, e.g. the second way of an `any-of`.
      return header === "authorization" && !/^bearer/i.test(value) ? missing : malformed
    }
    const verification = verifier.verify(token)
    return verification instanceof Promise
      ? verification.then((late) => judge(exchange, late))
      : judge(exchange, verification)
  }
}

function challenge(plan: StepOf<"validate-jwt">, reason: string | undefined): Problem {
  const error = reason === undefined ? "" : ` error="invalid_token", error_description="${quotable(reason)}"`
  return problem("unauthorized", {
    status: plan.status,
    headers: plan.status === 401 ? ["www-authenticate", `Bearer${error}`] : [],
    presented: reason !== undefined,
    cause: reason === undefined ? "no token" : `token: ${reason}`,
  })
}

function insufficient(plan: StepOf<"validate-jwt">): Problem {
  const scopes = plan.claims
    .filter(({ claim }) => claim === "scope" || claim === "scp")
    .flatMap(({ values }) => values)
  const scope = scopes.length === 0 ? "" : `, scope="${quotable(scopes.join(" "))}"`
  return problem("insufficient-scope", {
    headers: ["www-authenticate", `Bearer error="insufficient_scope"${scope}`],
    presented: true,
    cause: "the token's claims do not meet the rules",
  })
}

function unavailable(retryAfterSeconds: number): Problem {
  return problem("issuer-unavailable", {
    headers: ["retry-after", String(Math.max(1, Math.ceil(retryAfterSeconds)))],
    presented: true,
    cause: "the issuer's keys are not to be had",
  })
}

/** RFC 6750 §3: no quotation mark, no backslash, ASCII. */
function quotable(text: string): string {
  return text.replace(/[^\x20-\x7e]|["\\]/g, "'")
}
