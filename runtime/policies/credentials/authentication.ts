import type { NoToken, TokenSource } from "../../identity/token-client.ts"
import type { Authentication } from "../../plan/step-values.ts"
import type { ClientCertificate, Exchange } from "../exchange.ts"
import { type Problem, problem } from "../messages/answer.ts"
import type { Provision } from "../policy.ts"
import { headerText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"

/** How a request authenticates the gateway; exactly one of `authorization` and `certificate` is set. */
export interface CompiledAuthentication {
  /** The value of its Authorization field (RFC 7617, RFC 6750). Rejects with NoToken when there is no token. */
  readonly authorization: ((exchange: Exchange) => string | Promise<string>) | undefined
  readonly certificate: ClientCertificate | undefined
  /** The source of its token. */
  readonly source: TokenSource | undefined
}

/** Compiles how a request authenticates the gateway. */
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

/** The `Authorization` that the gateway sends. A token may have to be fetched, so the result may be a promise. */
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

/** The problem for the client when there is no token for a backend: 502 when the token endpoint refused the gateway, 503 when it did not respond. */
export function noTokenProblem({ reason, message }: NoToken): Problem {
  const options = { cause: message, reason: "TokenAcquisitionFailure" }
  return reason === "refused"
    ? problem("bad-gateway", options)
    : problem("backend-unavailable", { ...options, headers: ["retry-after", "1"] })
}
