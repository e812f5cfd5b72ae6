import { shown } from "../../../core/shown.ts"
import { headSpan } from "../../bind/bound.ts"
import type { LowerStep } from "../step.ts"

/** Characters of `uri-host [":" port]` (RFC 9110 §7.2). */
const hostCharacters = /^[A-Za-z0-9.\-_~:[\]]*$/

/** `forward-host preserve` or `forward-host "host"` */
export const lowerForwardHost: LowerStep = (bound, { texts, place, steps }) => {
  const argument = bound.args.text("host")
  const at = headSpan(bound.statement)
  if (argument === undefined) return steps.add({ kind: "set-host", host: { preserve: true } }, at)
  const host = texts.lower(argument, place, {
    constant(value, report, place) {
      if (hostCharacters.test(value) && value.length <= 255) return
      report.add("SP2024", place(0), `\`${shown(value)}\` can't be part of a host`, {
        help: "Write a host with an optional port, e.g. `orders.internal:8443`.",
      })
    },
  })
  return host === undefined ? undefined : steps.add({ kind: "set-host", host }, at)
}
