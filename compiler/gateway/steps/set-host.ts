import { isIPv6 } from "../../../runtime/plan/ip-text.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import { type Finding, opens } from "../../analysis/finding.ts"
import { otherResource } from "../../analysis/message-rules.ts"
import { textWords } from "../../analysis/words.ts"
import { shown } from "../../core/shown.ts"
import { headSpan } from "../bind/bound.ts"
import { statement } from "../print.ts"
import { slot, word } from "../schema/row.ts"
import type { StatementDefinition, StepText } from "../step-text.ts"

type Host = StepOf<"set-host">["host"]

/** Characters of `uri-host [":" port]` (RFC 9110 §7.2). */
const hostCharacters = /^[A-Za-z0-9.\-_~:[\]]*$/

const help = "Write a host with an optional port, e.g. `orders.internal:8443`."

/** `forward-host preserve` or `forward-host "host"` */
export const forwardHost: StatementDefinition = {
  row: {
    keyword: "forward-host",
    several: true,
    forms: [{ args: [word("preserve")] }, { args: [slot("host", "text")] }],
    byDefault: "the backend's host",
    docs: "The Host header of the request to the backend: the caller's own, or a string.",
    example: "forward-host preserve",
  },
  lower: (bound, { texts, place, report, steps }) => {
    const argument = bound.args.text("host")
    const at = headSpan(bound.statement)
    if (argument === undefined) return steps.add({ kind: "set-host", host: { preserve: true } }, at)
    const host = texts.lower(argument, place, {
      constant(value, report, place) {
        if (hostCharacters.test(value) && value.length <= 255) return
        report.add("SP2024", place(0), `\`${shown(value)}\` is not a valid part of a host`, { help })
      },
    })
    if (host === undefined) return undefined
    if (host === "") report.add("SP2038", argument.span, "the host is empty")
    else if (typeof host === "string" && hostCharacters.test(host) && !isHost(host))
      report.add("SP2024", argument.span, `\`${shown(host)}\` is not a host with an optional port`, { help })
    return steps.add({ kind: "set-host", host }, at)
  },
}

/** Printing and comparison of a step that sets the Host header of the request to the backend. */
export const setHost: StepText<"set-host"> = {
  print: ({ host }) =>
    statement(
      `forward-host ${typeof host === "object" && "preserve" in host ? "preserve" : textWords(host)}`,
    ),
  identities: () => ["set-host"],
  added: ({ host }) => otherHost(host),
  removed: () => otherResource("the backend gets its own Host header"),
  changed: { host: (_, after) => otherHost(after) },
}

function otherHost(host: Host): Finding {
  return typeof host === "object" && "preserve" in host
    ? opens("the backend gets the Host header that the caller sends")
    : otherResource("the backend gets another Host header")
}

/** DNS names have no `_` and `~`, but container names can have them. */
function isHost(text: string): boolean {
  const [, inBrackets, plain, port] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? []
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return false
  if (inBrackets !== undefined) return isIPv6(inBrackets)
  return plain !== undefined && /^[\w~-]+(?:\.[\w~-]+)*\.?$/.test(plain)
}
