import { toJson } from "../../expression/compile.ts"
import { escapeXmlAttribute, escapeXmlText } from "../../expression/xml-characters.ts"
import type { Text, TextPart } from "../../plan/text.ts"
import { refusedValue } from "../access/refused-value.ts"
import type { Exchange } from "../exchange.ts"
import type { Provision } from "../policy.ts"
import { compileTextValue, compileValue } from "./value.ts"

/**
 * The grammar of the place where a text is inserted. `dynamic` checks or encodes each part that is evaluated per request, `whole` the joined result;
 * both throw `Refused` for an invalid value.
 */
export interface TextGrammar {
  dynamic(value: string, source: string, exchange: Exchange): string
  whole?(value: string, exchange: Exchange): string
}

/** A compiled text. `constant` is set when it is the same for every request. */
export interface CompiledText {
  readonly constant: string | undefined
  of(exchange: Exchange): string
}

type Part = string | ((exchange: Exchange) => string)

/** Compiles a text for its place. Constants and named values are joined at once; they come from the operator and are not encoded. */
export function compileText(text: Text, provision: Provision, grammar: TextGrammar): CompiledText {
  const parts = joined(
    (typeof text === "string" ? [text] : text.text).map((part) => compilePart(part, provision, grammar)),
  )
  const [first] = parts
  if (parts.length === 0) return constantText("")
  if (parts.length === 1 && typeof first === "string") return constantText(first)
  const { whole } = grammar
  return {
    constant: undefined,
    of(exchange) {
      let value = ""
      for (const part of parts) value += typeof part === "string" ? part : part(exchange)
      return whole === undefined ? value : whole.call(grammar, value, exchange)
    },
  }
}

function constantText(value: string): CompiledText {
  return { constant: value, of: () => value }
}

/** A part of a text: a constant or a function of the exchange. `as` says how an expression is escaped. */
function compilePart(part: TextPart, provision: Provision, grammar: TextGrammar): Part {
  if (typeof part === "string") return part
  if ("value" in part) return provision.value(part.value)
  if ("secret" in part) return provision.secret(part.secret)
  const { expression } = part
  if (part.as === "json-value") {
    const value = compileValue(expression, provision)
    const most = provision.jsonMost()
    return (exchange) => JSON.stringify(toJson(value(exchange), most))
  }
  const text = compileTextValue(expression, provision)
  if (part.as === "json-string") return (exchange) => JSON.stringify(text(exchange)).slice(1, -1)
  if (part.as === "xml-text" || part.as === "xml-attribute") {
    const escaper = part.as === "xml-text" ? escapeXmlText : escapeXmlAttribute
    return (exchange) => {
      const escaped = escaper(text(exchange))
      if (escaped !== undefined) return escaped
      throw refusedValue(exchange, `\${${expression.text}} has a character that XML does not allow`)
    }
  }
  return (exchange) => grammar.dynamic(text(exchange), expression.text, exchange)
}

/** Neighbouring constants become one. */
function joined(parts: readonly Part[]): Part[] {
  const result: Part[] = []
  for (const part of parts) {
    const last = result.at(-1)
    if (part === "") continue
    if (typeof part === "string" && typeof last === "string") result[result.length - 1] = last + part
    else result.push(part)
  }
  return result
}
