import { nameSubscriber } from "../credentials/validate-key.ts"
import type { Policy } from "../policy.ts"
import { problem } from "./answer.ts"

/** The value of `Deprecation` is the start time (RFC 9745). A plan without a date gets a moment in the past. */
const longAgo = "@0"

/**
 * Announces on every response that this version is deprecated (Deprecation, RFC 9745; Sunset, RFC 8594), and links to its successor and documentation
 * (Link, RFC 8288: `successor-version` of RFC 5829, `deprecation` of RFC 9745). If the plan closes it, requests get 410 from the day of its sunset,
 * or at once when it has none. Usage still records the caller, identified by the key in the request.
 */
export const deprecation: Policy<"deprecation"> = (plan, provision) => {
  const { deprecated, closed, successor, documentation } = plan
  const { now } = provision.clock
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

/** The start of a day in UTC, in milliseconds. */
function midnight(day: string): number {
  return Date.parse(`${day}T00:00:00Z`)
}
