import { failureStatus } from "../credentials/token-guard.ts"
import type { Exchange } from "../exchange.ts"
import { problem } from "../messages/answer.ts"
import { fieldText } from "../messages/header-list.ts"
import { ownField } from "../messages/own-fields.ts"
import type { Outcome, Policy } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { compileCount, compileFlag } from "../values/value.ts"

/** The header must occur exactly once and, when values are configured, have one of them. */
export const checkHeader: Policy<"check-header"> = (plan, provision) => {
  const { name } = plan
  const status = failureStatus(compileCount(plan.status, provision))
  const ignoreCase = compileFlag(plan.ignoreCase, provision)
  const values = plan.values.map((value) => compileText(value, provision, anyText))
  const message = plan.message === undefined ? undefined : compileText(plan.message, provision, anyText)
  const refuse = (exchange: Exchange, reason: string, cause: string): Outcome => {
    const code = status(exchange)
    return problem(code === 401 ? "unauthorized" : "forbidden", {
      status: code,
      reason,
      message: message?.of(exchange),
      cause,
    })
  }
  return (exchange) => {
    const field = ownField(exchange, name) ?? exchange.headers.get(name)
    if (field === undefined) return refuse(exchange, "HeaderNotFound", `no header ${name}`)
    // It is not known which of several lines the backend reads, so the policy cannot vouch for any of them.
    if (exchange.headers.count(name) > 1)
      return refuse(exchange, "HeaderValueNotAllowed", `header ${name} is given twice`)
    if (values.length === 0) return undefined
    const value = fieldText(field)
    const folded = ignoreCase(exchange)
    const same = (wanted: string) =>
      folded ? wanted.toLowerCase() === value.toLowerCase() : wanted === value
    return values.some((each) => same(each.of(exchange)))
      ? undefined
      : refuse(exchange, "HeaderValueNotAllowed", `header ${name} has another value`)
  }
}
