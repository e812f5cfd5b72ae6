import { nameSubscriber } from "../credentials/validate-key.ts"
import type { Policy } from "../policy.ts"
import { problem } from "./answer.ts"

/** RFC 9745 gives `Deprecation` the time since when; where a plan only says that it is so, that is true of any moment past. */
const longAgo = "@0"

/**
 * Tells clients on every answer that this version is going (Deprecation, RFC 9745; Sunset, RFC 8594) and what comes after it (Link, RFC 8288: `successor-version` of RFC 5829,
 * `deprecation` of RFC 9745), and closes it with 410 from the day of its sunset on when the plan says so; without a day it is closed already.
 * Who calls on is named by the key they show, for usage: nobody asks for it any more.
 */
export const deprecation: Policy<"deprecation"> = (plan, provision) => {
  const { deprecated, closed, successor, documentation } = plan
  const { now } = provision
  const keys = closed ? provision.keys() : undefined
  const sunsetMs = plan.sunset === undefined ? undefined : midnight(plan.sunset)
  const lines: (readonly [string, string])[] = []
  if (deprecated !== false)
    lines.push(["deprecation", deprecated === true ? longAgo : `@${midnight(deprecated) / 1_000}`])
  if (sunsetMs !== undefined) lines.push(["sunset", new Date(sunsetMs).toUTCString()])
  if (successor !== undefined) lines.push(["link", `<${successor}>; rel="successor-version"`])
  if (documentation !== undefined)
    lines.push(["link", `<${documentation}>; rel="deprecation"; type="text/html"`])
  return (exchange) => {
    for (const [name, value] of lines) exchange.answerWith(name, value)
    if (keys === undefined || (sunsetMs !== undefined && now() < sunsetMs)) return undefined
    nameSubscriber(exchange, keys)
    return problem("sunset")
  }
}

/** The beginning of a day in UTC, in milliseconds. */
function midnight(day: string): number {
  return Date.parse(`${day}T00:00:00Z`)
}
