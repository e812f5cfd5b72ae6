import { shownTo } from "../../plan/steps.ts"
import type { Exchange } from "../exchange.ts"
import { type Problem, problem } from "../messages/answer.ts"
import type { Outcome, Policy } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { compileCount } from "../values/value.ts"
import { dropCredential, isBasic } from "./credential.ts"
import { failureStatus } from "./token-guard.ts"

/** Requires a user and a password (RFC 7617), in UTF-8. The refusal does not reveal whether the user exists. */
export const basicAuth: Policy<"basic-auth"> = (plan, provision) => {
  const users = provision.users(plan.users)
  const shown = shownTo(plan)
  const status = failureStatus(compileCount(plan.status, provision))
  const message = plan.message === undefined ? undefined : compileText(plan.message, provision, anyText)
  const refuse = (exchange: Exchange, presented: boolean, cause: string): Problem => {
    const code = status(exchange)
    const challenge = `Basic realm="${plan.realm}", charset="UTF-8"`
    return problem("unauthorized", {
      status: code,
      headers: code === 401 ? ["www-authenticate", challenge] : [],
      reason: presented ? "CredentialsInvalid" : "CredentialsNotPresent",
      message: message?.of(exchange),
      presented,
      cause,
    })
  }
  const judge = (exchange: Exchange, user: string, found: boolean | "busy"): Outcome => {
    if (found === "busy")
      return problem("overloaded", {
        headers: ["retry-after", "1"],
        presented: true,
        cause: "too many passwords wait to be checked",
      })
    if (!found) return refuse(exchange, true, "user or password is wrong")
    exchange.claims = { sub: user }
    dropCredential(shown, exchange)
    return undefined
  }
  return (exchange) => {
    const { headers } = exchange
    if (headers.count("authorization") > 1)
      return problem("invalid-header", { presented: true, cause: "the header authorization is given twice" })
    const value = headers.get("authorization")
    if (value === undefined || !isBasic(value)) return refuse(exchange, false, "no user and password")
    const given = credentialsOf(value)
    if (given === undefined)
      return refuse(exchange, true, "the header is not `Basic` and Base64 of `user:password`")
    const found = users.verify(given.user, given.password)
    return typeof found === "boolean"
      ? judge(exchange, given.user, found)
      : found.then((late) => judge(exchange, given.user, late))
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** User and password (RFC 7617), decoded as UTF-8; undefined if malformed. The size is limited, because the password is hashed. */
function credentialsOf(value: string): { user: string; password: string } | undefined {
  const encoded = /^basic ([A-Za-z0-9+/]{1,4096}={0,2})$/i.exec(value)?.[1]
  if (encoded === undefined) return undefined
  try {
    const text = utf8.decode(Buffer.from(encoded, "base64"))
    const colon = text.indexOf(":")
    return colon === -1 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) }
  } catch {
    return undefined
  }
}
