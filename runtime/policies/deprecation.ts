import { problem } from "./answer.ts"
import type { Policy } from "./policy.ts"

/** RFC 9745 gives `Deprecation` the time since when; a plan only says that it is so, which is true of any moment past. */
const longAgo = "@0"

/**
 * Tells clients on every answer that this version is going (Deprecation, RFC 9745; Sunset, RFC 8594), and closes it from the day of its
 * sunset on when the plan says so.
 */
export const deprecation: Policy<"deprecation"> = (plan, provision) => {
  const { deprecated, closed } = plan
  const { now } = provision
  const sunsetMs = plan.sunset === undefined ? undefined : Date.parse(`${plan.sunset}T00:00:00Z`)
  const sunset = sunsetMs === undefined ? undefined : new Date(sunsetMs).toUTCString()
  return (exchange) => {
    if (deprecated) exchange.answerWith("deprecation", longAgo)
    if (sunset !== undefined) exchange.answerWith("sunset", sunset)
    return closed && sunsetMs !== undefined && now() >= sunsetMs ? problem("sunset") : undefined
  }
}
