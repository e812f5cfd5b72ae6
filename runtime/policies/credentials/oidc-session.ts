import type { OidcClient } from "../../oidc/oidc-client.ts"
import { ownCookiePrefix } from "../../oidc/own-cookies.ts"
import type { SessionFound } from "../../oidc/session-keeper.ts"
import type { StepOf } from "../../plan/steps.ts"
import type { Exchange } from "../exchange.ts"
import { type Problem, problem } from "../messages/answer.ts"
import { loginAnswer } from "../messages/login-answer.ts"
import type { Outcome, Policy, Provision } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { compileCount } from "../values/value.ts"
import { type ClaimFailure, compileClaimRules } from "./claim.ts"
import { failureStatus } from "./token-guard.ts"

type Plan = StepOf<"oidc-session">

/** Requires a session. Only a navigation is redirected to the login: the response to a script, or to a form, could not show it. */
export const oidcSession: Policy<"oidc-session"> = (plan, provision) => {
  const client = provision.oidcClient(plan.client)
  const claimFailure = compileClaimRules(plan.claims, provision)
  const refusals = new Refusals(plan, provision)
  const judge = (exchange: Exchange, found: SessionFound): Outcome | Promise<Outcome> => {
    if (found.kind === "unavailable")
      return unavailable(
        found.what === "provider" ? "issuer-unavailable" : "sessions-unavailable",
        found.cause,
      )
    if (found.kind !== "session") {
      const cause = found.kind === "none" ? "there is no session" : found.cause
      const isPresented = found.kind === "ended"
      return isNavigation(exchange)
        ? beginLogin(client, exchange, cause)
        : refusals.missing(exchange, cause, isPresented)
    }
    for (const line of found.cookies) exchange.answerWith("set-cookie", line)
    const failure = claimFailure(found.claims, exchange)
    if (failure !== undefined) return refusals.insufficient(exchange, failure)
    exchange.claims = found.claims
    if (found.token !== undefined) exchange.headers.set("authorization", `Bearer ${found.token}`)
    return undefined
  }
  return (exchange) => {
    const found = client.session(exchange.ownCookies, plan)
    return found instanceof Promise ? found.then((late) => judge(exchange, late)) : judge(exchange, found)
  }
}

/** Whether the response would be shown as a page. Browsers say so in `Sec-Fetch-Mode`; older ones are judged by `Accept`. A prefetch must not begin a login. */
function isNavigation({ method, headers }: Exchange): boolean {
  if (method !== "GET") return false
  if (/prefetch/i.test(headers.get("sec-purpose") ?? headers.get("purpose") ?? "")) return false
  const mode = headers.get("sec-fetch-mode")
  if (mode !== undefined) {
    // The pages of providers refuse to be shown in a frame.
    const dest = headers.get("sec-fetch-dest")
    return mode === "navigate" && (dest === undefined || dest === "document")
  }
  return headers.get("x-requested-with") === undefined && /\btext\/html\b/i.test(headers.get("accept") ?? "")
}

async function beginLogin(client: OidcClient, exchange: Exchange, cause: string): Promise<Outcome> {
  const { scheme, authority, ownCookies, originalTarget } = exchange
  const origin = `${scheme}://${authority}`
  return loginAnswer(await client.begin({ origin, cookies: ownCookies }, originalTarget), cause)
}

function unavailable(name: "issuer-unavailable" | "sessions-unavailable", cause: string): Problem {
  return problem(name, { headers: ["retry-after", "1"], presented: true, cause })
}

/** The refusals of a request that is no navigation, and of users whose claims do not match. */
class Refusals {
  readonly #client: string
  readonly #status: (exchange: Exchange) => number
  readonly #claimStatus: (exchange: Exchange) => number
  readonly #message: ((exchange: Exchange) => string) | undefined

  /** Statuses and messages may be computed per request. */
  constructor(plan: Plan, provision: Provision) {
    this.#client = plan.client
    this.#status = failureStatus(compileCount(plan.status, provision))
    this.#claimStatus = failureStatus(compileCount(plan.claimStatus, provision))
    const message = plan.message === undefined ? undefined : compileText(plan.message, provision, anyText)
    this.#message = message === undefined ? undefined : (exchange) => message.of(exchange)
  }

  missing(exchange: Exchange, cause: string, isPresented: boolean): Problem {
    return problem("login-required", {
      ...this.#said(exchange, this.#status(exchange)),
      reason: isPresented ? "SessionInvalid" : "SessionNotPresent",
      presented: isPresented,
      cause,
    })
  }

  insufficient(exchange: Exchange, { fault, claim }: ClaimFailure): Problem {
    const status = this.#claimStatus(exchange)
    return problem(status === 401 ? "unauthorized" : "insufficient-scope", {
      ...this.#said(exchange, status),
      reason: fault,
      presented: true,
      // The name comes from the plan; the value is not logged.
      cause:
        fault === "TokenClaimNotFound"
          ? `the user has no claim \`${claim}\``
          : `the user's claim \`${claim}\` does not meet the rules`,
    })
  }

  /** RFC 9110 §15.5.2 requires a challenge in every 401; no registered scheme describes a cookie. */
  #said(exchange: Exchange, status: number) {
    return {
      status,
      headers:
        status === 401 ? ["www-authenticate", `Cookie cookie-name="${ownCookiePrefix}${this.#client}"`] : [],
      message: this.#message?.(exchange),
    }
  }
}
