import type { Policy } from "../policy.ts"
import { anyText, queryNameText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"

/** Sets, adds, defaults or removes a query parameter of the request to the backend. Values are percent-encoded; several values become several parameters. */
export const setQuery: Policy<"set-query"> = (plan, provision) => {
  const { action } = plan
  if (action !== "remove" && plan.values.length === 0)
    throw new Error(`a query parameter: \`${action}\` needs a value`)
  const name =
    typeof plan.name === "string"
      ? { constant: plan.name, of: () => "" }
      : compileText(plan.name.text, provision, queryNameText)
  const texts = plan.values.map((value) => compileText(value, provision, anyText))
  return (exchange) => {
    const { query } = exchange
    const key = name.constant ?? name.of(exchange)
    if (action === "default" && query.count(key) > 0) return undefined
    if (action === "remove") {
      query.remove(key)
      return undefined
    }
    const [first = "", ...more] = texts.map((text) => text.constant ?? text.of(exchange))
    if (action === "set") query.set(key, first)
    else query.append(key, first)
    for (const value of more) query.append(key, value)
    return undefined
  }
}
