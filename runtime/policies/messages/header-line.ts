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

/** A line of a header: as `HeaderLines` have it, with a name that may be found per request. */
type Line = Omit<HeaderLines[number], "name"> & { readonly name: string | { readonly text: Text } }

/**
 * Fields whose values are no lists (RFC 9110 §5.3): several values are several lines. Dates hold a comma themselves, challenges and cookies
 * have a grammar of their own.
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

/** Name of a field that is found per request: what it brings must be a name (RFC 9110 §5.1), and none of the connection's own. */
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

/** Compiles one line of a header for any list of fields. */
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

/** The lines that several values of a field are sent as: one list, or one line each where the field is no list. */
function linesOf(name: string, values: readonly string[]): readonly string[] {
  return values.length < 2 || ownLines.has(name) ? values : [values.join(", ")]
}
