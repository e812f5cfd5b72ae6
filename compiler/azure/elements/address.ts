import { shown } from "../../core/shown.ts"
import type { Span } from "../../core/source.ts"
import type { Use } from "../use.ts"

/** Whether a request can be sent to an address that is known at compile time. Problems are reported (SP7009). */
export function isAddress(text: string, use: Use, span: Span): boolean {
  const hole = /<[^<>]*>/.exec(text)?.[0]
  const url = `\`${shown(text)}\``
  if (text === "") use.report("SP7009", span, "the URL is empty", "Write `https://…`.")
  else if (!/^https?:\/\/[^/]/i.test(text))
    use.report("SP7009", span, `${url} is not a URL`, "Write `https://…`.")
  else if (hole !== undefined)
    use.report(
      "SP7009",
      span,
      `${url} still has the placeholder \`${shown(hole)}\``,
      "Replace the placeholder with the value.",
    )
  else if (!URL.canParse(text))
    use.report(
      "SP7009",
      span,
      `${url} has no valid host and port`,
      "Write e.g. `https://orders.example:8443/base`.",
    )
  else return true
  return false
}
