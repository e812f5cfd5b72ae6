import type { NoToken, TokenSource } from "../../identity/token-client.ts"
import type { Authentication } from "../../plan/step-values.ts"
import type { ClientCertificate, Exchange } from "../exchange.ts"
import { type Problem, problem } from "../messages/answer.ts"
import type { Provision } from "../policy.ts"
import { headerText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"

/** How a request says who we are: one of the two is there. */
export interface CompiledAuthentication {
  /** The value of its Authorization field (RFC 7617, RFC 6750). Rejects with NoToken where none is to be had. */
  readonly authorization: ((exchange: Exchange) => string | Promise<string>) | undefined
  readonly certificate: ClientCertificate | undefined
  /** Where its token is from. */
  readonly source: TokenSource | undefined
}

/** Makes ready how a request says who we are. */
export function compileAuthentication(plan: Authentication, provision: Provision): CompiledAuthentication {
  if (plan.scheme === "certificate")
    return {
      authorization: undefined,
      certificate: provision.certificate(plan.certificate),
      source: undefined,
    }
  const source = plan.scheme === "token" ? provision.tokenClient(plan.client) : undefined
  return { authorization: compileAuthorization(plan, provision), certificate: undefined, source }
}

function compileAuthorization(
  plan: Exclude<Authentication, { scheme: "certificate" }>,
  provision: Provision,
): (exchange: Exchange) => string | Promise<string> {
  if (plan.scheme === "token") {
    const source = provision.tokenClient(plan.client)
    return () => {
      const token = source.token()
      if (typeof token === "string") return `Bearer ${token}`
      return token.then((late) => `Bearer ${late}`)
    }
  }
  if (plan.scheme === "basic") {
    const user = compileText(plan.user, provision, headerText)
    const password = compileText(plan.password, provision, headerText)
    return (exchange) => basicAuthorization(user.of(exchange), password.of(exchange))
  }
  const token = compileText(plan.token, provision, headerText)
  return (exchange) => `Bearer ${token.of(exchange)}`
}

/** RFC 7617 §2, with the charset of §2.1. */
export function basicAuthorization(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`
}

/** What clients are told when we have no token for a backend: 502 when we were refused one, 503 when nobody answered. */
export function noTokenProblem({ reason, message }: NoToken): Problem {
  const options = { cause: message, reason: "TokenAcquisitionFailure" }
  return reason === "refused"
    ? problem("bad-gateway", options)
    : problem("backend-unavailable", { ...options, headers: ["retry-after", "1"] })
}
