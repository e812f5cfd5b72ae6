import { canonicalPath } from "./canonical-path.ts"
import { pathText } from "./grammars.ts"
import type { Policy } from "./policy.ts"
import { compileText } from "./text.ts"

/** Replaces the path of the request to the backend. The result is held to the same canonical form as a client's path. */
export const rewrite: Policy<"rewrite"> = (plan, provision) => {
  const text = compileText(plan.path, provision, pathText)
  if (text.constant !== undefined) {
    const constant = text.constant.startsWith("/") ? text.constant : `/${text.constant}`
    const [path = ""] = constant.split("?", 1)
    if (canonicalPath(path) === undefined) throw new Error(`the path \`${constant}\` has no canonical form`)
    return (exchange) => {
      exchange.rewritten = constant
      return undefined
    }
  }
  return (exchange) => {
    exchange.rewritten = text.of(exchange)
    return undefined
  }
}
