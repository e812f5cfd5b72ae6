import { NoToken } from "../../identity/token-client.ts"
import { compileAuthentication, noTokenProblem } from "../credentials/authentication.ts"
import { accessToken } from "../credentials/verified-token.ts"
import type { Exchange } from "../exchange.ts"
import type { Outcome, Policy } from "../policy.ts"

/** Replaces the client's credentials by those of the gateway for the backend, or stores the token in a variable. */
export const authenticate: Policy<"authenticate"> = (plan, provision) => {
  const { authorization, certificate, source } = compileAuthentication(plan.authentication, provision)
  const { output, outputAs } = plan
  const set = (exchange: Exchange, value: string): Outcome => {
    const token = value.slice(value.indexOf(" ") + 1)
    if (output !== undefined) {
      exchange.variables.set(output, outputAs === "object" ? accessToken(token) : token)
      return undefined
    }
    exchange.headers.set("authorization", value)
    if (source !== undefined) exchange.sentToken = { source, token }
    return undefined
  }
  return (exchange) => {
    if (authorization === undefined) {
      exchange.certificate = certificate
      return undefined
    }
    const value = authorization(exchange)
    return typeof value === "string"
      ? set(exchange, value)
      : value.then((late) => set(exchange, late), failed)
  }
}

function failed(error: unknown): Outcome {
  if (error instanceof NoToken) return noTokenProblem(error)
  throw error
}
