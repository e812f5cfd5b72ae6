import type { Verification } from "../../identity/verifier.ts"
import type { TokenCheck } from "../../plan/step-values.ts"
import type { Exchange } from "../exchange.ts"
import { type Problem, problem } from "../messages/answer.ts"
import type { Outcome, Provision, Run } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { compileCount } from "../values/value.ts"
import { type ClaimFailure, compileClaimRules } from "./claim.ts"
import { compileCredential } from "./credential.ts"
import { verifiedToken } from "./verified-token.ts"

type Verify = (token: string, exchange: Exchange) => Verification | Promise<Verification>

/** Reads a token, has it verified, checks its claims and sets the caller. Failures with status 401 follow RFC 6750 §3. The token is never logged. */
export function compileTokenGuard(plan: TokenCheck, provision: Provision, verify: Verify): Run {
  const credential = compileCredential(plan.from, provision)
  const claimFailure = compileClaimRules(plan.claims, provision)
  const refusals = new Refusals(plan, provision)
  const judge = (exchange: Exchange, token: string, found: Verification): Outcome => {
    if (found.kind === "invalid") return refusals.invalid(exchange, found.reason, found.fault, found.detail)
    if (found.kind === "unavailable") return unavailable(found.retryAfterSeconds)
    const failure = claimFailure(found.claims, exchange)
    if (failure !== undefined) return refusals.insufficient(exchange, failure)
    exchange.claims = found.claims
    if (plan.output !== undefined) exchange.variables.set(plan.output, verifiedToken(token, found))
    credential.drop(exchange)
    return undefined
  }
  const doubled = problem("invalid-header", {
    presented: true,
    reason: "JwtInvalid",
    cause: `${credential.place} is given twice`,
  })
  return (exchange) => {
    const found = credential.read(exchange)
    if (found.kind === "twice") return doubled
    if (found.kind === "malformed") return refusals.invalid(exchange, credential.malformed, "JwtInvalid")
    if (found.kind === "absent") return refusals.missing(exchange)
    const verification = verify(found.value, exchange)
    return verification instanceof Promise
      ? verification.then((late) => judge(exchange, found.value, late))
      : judge(exchange, found.value, verification)
  }
}

/** The refusals of a token check, with their challenges (RFC 6750, section 3). */
class Refusals {
  readonly #status: (exchange: Exchange) => number
  readonly #claimStatus: (exchange: Exchange) => number
  readonly #message: ((exchange: Exchange) => string) | undefined
  readonly #scope: string

  /** Statuses and messages may be computed per request. The challenge names the demanded scopes. */
  constructor(plan: TokenCheck, provision: Provision) {
    this.#status = failureStatus(compileCount(plan.status, provision))
    this.#claimStatus = failureStatus(compileCount(plan.claimStatus, provision))
    const message = plan.message === undefined ? undefined : compileText(plan.message, provision, anyText)
    this.#message = message === undefined ? undefined : (exchange) => message.of(exchange)
    const scopes = plan.claims
      .filter(({ claim }) => claim === "scope" || claim === "scp")
      .flatMap(({ values }) => values.filter((value) => typeof value === "string"))
    this.#scope = scopes.length === 0 ? "" : `, scope="${quotable(scopes.join(" "))}"`
  }

  missing(exchange: Exchange): Problem {
    return this.#unauthorized(exchange, "", "TokenNotPresent", "no token")
  }

  /** `detail` goes to the log alone. */
  invalid(exchange: Exchange, why: string, fault: string, detail?: string): Problem {
    const challenge = ` error="invalid_token", error_description="${quotable(why)}"`
    return this.#unauthorized(
      exchange,
      challenge,
      fault,
      `token: ${why}${detail === undefined ? "" : ` (${detail})`}`,
    )
  }

  /** A valid token that lacks a claim. */
  insufficient(exchange: Exchange, { fault, claim }: ClaimFailure): Problem {
    const status = this.#claimStatus(exchange)
    const challenge = ["www-authenticate", `Bearer error="insufficient_scope"${this.#scope}`]
    return problem(status === 401 ? "unauthorized" : "insufficient-scope", {
      status,
      headers: status === 401 || status === 403 ? challenge : [],
      reason: fault,
      message: this.#message?.(exchange),
      presented: true,
      // The name comes from the plan; the value in the token is not logged.
      cause:
        fault === "TokenClaimNotFound"
          ? `the token has no claim \`${claim}\``
          : `the token's claim \`${claim}\` does not meet the rules`,
    })
  }

  /** No token, or one that is not valid. */
  #unauthorized(exchange: Exchange, challenge: string, reason: string, cause: string): Problem {
    const status = this.#status(exchange)
    return problem("unauthorized", {
      status,
      headers: status === 401 ? ["www-authenticate", `Bearer${challenge}`] : [],
      reason,
      message: this.#message?.(exchange),
      presented: reason !== "TokenNotPresent",
      cause,
    })
  }
}

/** The status of a refusal; an expression that yields an invalid status causes a 500. */
export function failureStatus(read: (exchange: Exchange) => number): (exchange: Exchange) => number {
  return (exchange) => {
    const status = read(exchange)
    return status >= 400 && status <= 599 ? status : 500
  }
}

function unavailable(retryAfterSeconds: number): Problem {
  return problem("issuer-unavailable", {
    headers: ["retry-after", String(Math.max(1, Math.ceil(retryAfterSeconds)))],
    presented: true,
    cause: "the issuer is unavailable",
  })
}

/** RFC 6750 §3: no quotation mark, no backslash, ASCII. */
function quotable(text: string): string {
  return text.replace(/[^\x20-\x7e]|["\\]/g, "'")
}
