import type { StepOf } from "../../../../runtime/plan/steps.ts"
import type { Text } from "../../../../runtime/plan/text.ts"
import type { Report } from "../../../core/diagnostic.ts"
import type { Span } from "../../../core/source.ts"
import { headSpan } from "../../bind/bound.ts"
import type { LowerStep } from "../step.ts"
import type { TextUse } from "../text.ts"

/** Fields of the connection and of the framing (RFC 9110 §7.6.1, RFC 9112 §6), and such as make a second request of the first. */
const untouchable: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
])

const valueMax = 8192
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const notInHeader = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/

/** How texts become values of headers. */
export function headerUse(secrets: boolean): TextUse {
  return {
    secrets,
    constant(value, report, at) {
      const bad = value.search(notInHeader)
      if (bad >= 0) {
        const code = value.charCodeAt(bad)
        const what =
          code === 10 || code === 13
            ? "a line break"
            : `the control character U+${code.toString(16).toUpperCase().padStart(4, "0")}`
        report.add("SP2028", at(bad), `the value holds ${what}`)
      } else if (value.length > valueMax) {
        report.add("SP2028", at(0), `the value has more than ${valueMax} characters`, { help: "Shorten it." })
      }
    },
  }
}

/** False, and reported, for a header policies may not write. */
export function mayWrite(name: string, span: Span, message: "request" | "response", report: Report): boolean {
  if (name === "host" && message === "request") {
    report.add("SP2034", span, "the Host header is set by the gateway", {
      help: 'Use `forward-host preserve` or `forward-host "…"`.',
    })
    return false
  }
  if (!untouchable.has(name)) return true
  report.add("SP2034", span, `\`${name}\` belongs to the connection`, { help: "Remove the statement." })
  return false
}

/** `header set|append|default|remove "Name" "value"` */
export const lowerHeader: LowerStep = (bound, { texts, place, report, steps }) => {
  const action = bound.statement.args[0]
  const name = bound.args.value<string>("name")
  const nameAt = bound.args.get("name")?.argument.span
  if (action?.kind !== "word" || name === undefined || nameAt === undefined) return undefined
  const message = place.section === "inbound" ? "request" : "response"
  if (!mayWrite(name, nameAt, message, report)) return undefined
  const step: Omit<StepOf<"set-header">, "value"> = {
    kind: "set-header",
    message,
    action: action.text as StepOf<"set-header">["action"],
    name,
  }
  const argument = bound.args.text("value")
  if (argument === undefined) return steps.add(step, headSpan(bound.statement))
  const value: Text | undefined = texts.lower(argument, place, headerUse(message === "request"))
  return value === undefined ? undefined : steps.add({ ...step, value }, headSpan(bound.statement))
}
