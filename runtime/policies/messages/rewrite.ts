import type { Exchange } from "../exchange.ts"
import type { Policy } from "../policy.ts"
import { pathText, rawPathText } from "../values/grammars.ts"
import { compileText, type TextGrammar } from "../values/text.ts"
import { canonicalPath } from "./canonical-path.ts"
import { percentEncode } from "./percent-encode.ts"

/**
 * Replaces the path of the request to the backend. The result must have the same canonical form as a client's path. A query in it comes first and
 * replaces parameters of the client with the same names; without `keepQuery` it replaces all.
 */
export const rewrite: Policy<"rewrite"> = (plan, provision) => {
  const grammar = plan.raw ? rawPathText : pathText
  const { parameters } = plan
  const text = compileText(
    plan.path,
    provision,
    parameters === undefined ? grammar : filled(grammar, parameters),
  )
  const { keepQuery } = plan
  if (text.constant === undefined) return (exchange) => apply(exchange, text.of(exchange), keepQuery)
  const constant = text.constant.startsWith("/") ? text.constant : `/${text.constant}`
  const [path = ""] = constant.split("?", 1)
  if (canonicalPath(path) === undefined) throw new Error(`the path \`${constant}\` has no canonical form`)
  return (exchange) => apply(exchange, constant, keepQuery)
}

/** Replaces names in braces by path parameters, encoded: they cannot add a query and, except for a tail, no segments. */
function filled(grammar: TextGrammar, parameters: Readonly<Record<string, string>>): TextGrammar {
  return {
    ...grammar,
    whole(value, exchange) {
      const path = value.replaceAll(/\{\*?([^{}]{1,128})\}/g, (written, name: string) => {
        const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined
        const found = parameter === undefined ? undefined : exchange.parameters[parameter]
        return found === undefined ? written : found.split("/").map(percentEncode).join("/")
      })
      return grammar.whole?.(path, exchange) ?? path
    },
  }
}

function apply(exchange: Exchange, target: string, keepQuery: boolean): undefined {
  const at = target.indexOf("?")
  exchange.rewritten = at === -1 ? target : target.slice(0, at)
  if (at !== -1 || !keepQuery) exchange.query.lead(at === -1 ? "" : target.slice(at + 1), keepQuery)
  return undefined
}
