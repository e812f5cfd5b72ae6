import { connectionFields } from "../../plan/http-syntax.ts"
import type { HeaderLines } from "../../plan/step-values.ts"
import type { Text } from "../../plan/text.ts"
import { refusedValue } from "../access/refused-value.ts"
import type { Exchange } from "../exchange.ts"
import type { Provision } from "../policy.ts"
import { constantHeader, headerText } from "../values/grammars.ts"
import { compileText, type TextGrammar } from "../values/text.ts"
import type { HeaderList } from "./header-list.ts"
import { compileLocation } from "./location.ts"

/** A header line as in `HeaderLines`, with a name that may be an expression. */
type Line = Omit<HeaderLines[number], "name"> & { readonly name: string | { readonly text: Text } }

/**
 * Fields whose values are not lists (RFC 9110 §5.3): several values need several lines. Dates contain a comma; challenges and cookies have their own
 * grammar.
 */
const ownLines: ReadonlySet<string> = new Set([
  "authentication-info",
  "cookie",
  "date",
  "expires",
  "if-modified-since",
  "if-unmodified-since",
  "last-modified",
  "proxy-authenticate",
  "proxy-authorization",
  "retry-after",
  "set-cookie",
  "sunset",
  "user-agent",
  "warning",
  "www-authenticate",
])

/** A field name from an expression: it must be a valid name (RFC 9110 §5.1), and not a field of the connection. */
const headerNameText: TextGrammar = {
  dynamic: (value) => value,
  whole(value, exchange: Exchange) {
    const name = value.toLowerCase()
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/.test(name))
      throw refusedValue(exchange, "the expression did not yield a valid header name")
    if (connectionFields.has(name)) throw refusedValue(exchange, `\`${name}\` belongs to the connection`)
    return name
  },
}

/** Compiles one header line, to be applied to any header list. */
export function compileHeaderLine(
  line: Line,
  provision: Provision,
): (headers: HeaderList, exchange: Exchange) => void {
  const { action } = line
  if (action !== "remove" && line.values.length === 0)
    throw new Error(`a header: \`${action}\` needs a value`)
  const nameOf =
    typeof line.name === "string" ? undefined : compileText(line.name.text, provision, headerNameText)
  const constantName = typeof line.name === "string" ? line.name : nameOf?.constant?.toLowerCase()
  const valuesOf = compileValues(line, constantName, provision)
  const apply = actions[action]
  return (headers, exchange) => {
    const name = constantName ?? nameOf?.of(exchange) ?? ""
    apply(headers, name, action === "remove" ? [] : linesOf(name, valuesOf(exchange)))
  }
}

/** The values of a header. Location may hold a URL only. */
function compileValues(
  line: Line,
  name: string | undefined,
  provision: Provision,
): (exchange: Exchange) => string[] {
  const texts = line.values.map((value) => {
    const text =
      name === "location" ? compileLocation(value, provision) : compileText(value, provision, headerText)
    const { constant } = text
    return constant === undefined ? text : { constant: constantHeader(constant, name ?? "…"), of: text.of }
  })
  return (exchange) => texts.map((text) => text.constant ?? text.of(exchange))
}

type Apply = (headers: HeaderList, name: string, values: readonly string[]) => void

const append: Apply = (headers, name, values) => {
  for (const value of values) headers.append(name, value)
}

/** What a header line does with values that exist. */
const actions: Readonly<Record<Line["action"], Apply>> = {
  set: (headers, name, [first = "", ...more]) => {
    headers.set(name, first)
    append(headers, name, more)
  },
  append,
  default: (headers, name, values) => {
    if (headers.get(name) === undefined) append(headers, name, values)
  },
  remove: (headers, name) => headers.remove(name),
}

/** The lines for several values of a field: one list, or one line each when the field is not a list. */
function linesOf(name: string, values: readonly string[]): readonly string[] {
  return values.length < 2 || ownLines.has(name) ? values : [values.join(", ")]
}
