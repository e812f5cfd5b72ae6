import { canonicalPath } from "./canonical-path.ts"
import type { Exchange } from "./exchange.ts"
import { pathText, rawPathText } from "./grammars.ts"
import type { Policy } from "./policy.ts"
import { compileText } from "./text.ts"

/**
 * Replaces the path of the request to the backend. The result is held to the same canonical form as a client's path. A query in it comes
 * first, and what the client sent under the same names is left out; without `keepQuery` everything it sent is.
 */
export const rewrite: Policy<"rewrite"> = (plan, provision) => {
  const text = compileText(plan.path, provision, plan.raw ? rawPathText : pathText)
  const { keepQuery } = plan
  if (text.constant === undefined) return (exchange) => apply(exchange, text.of(exchange), keepQuery)
  const constant = text.constant.startsWith("/") ? text.constant : `/${text.constant}`
  const [path = ""] = constant.split("?", 1)
  if (canonicalPath(path) === undefined) throw new Error(`the path \`${constant}\` has no canonical form`)
  return (exchange) => apply(exchange, constant, keepQuery)
}

function apply(exchange: Exchange, target: string, keepQuery: boolean): undefined {
  const at = target.indexOf("?")
  exchange.rewritten = at === -1 ? target : target.slice(0, at)
  if (at !== -1 || !keepQuery) exchange.query.lead(at === -1 ? "" : target.slice(at + 1), keepQuery)
  return undefined
}
