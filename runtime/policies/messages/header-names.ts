import { connectionFields } from "../../plan/header-name.ts"
import { refusedValue } from "../access/refused-value.ts"
import type { Exchange } from "../exchange.ts"
import type { TextGrammar } from "../values/text.ts"

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

/** The lines that several values of a field are sent as: one list, or one line each where the field is no list. */
export function linesOf(name: string, values: readonly string[]): readonly string[] {
  return values.length < 2 || ownLines.has(name) ? values : [values.join(", ")]
}

/** Name of a field that is found per request: what it brings must be a name (RFC 9110 §5.1), and none of the connection's own. */
export const headerNameText: TextGrammar = {
  dynamic: (value) => value,
  whole(value, exchange: Exchange) {
    const name = value.toLowerCase()
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/.test(name))
      throw refusedValue(exchange, "what was made as the name of a header is none")
    if (connectionFields.has(name)) throw refusedValue(exchange, `\`${name}\` belongs to the connection`)
    return name
  },
}
