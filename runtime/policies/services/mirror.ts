import { mirrorField } from "../../plan/http-syntax.ts"
import type { Mirror } from "../exchange.ts"
import type { Policy } from "../policy.ts"

/** Has a share of the requests copied to another backend. Copies that run count for the step, on all its routes together. */
export const mirror: Policy<"mirror"> = (plan, provision) => {
  const log = provision.mirrorLog()
  const { percent, bodyBytesMax, concurrencyMax, timeoutMs, credentials } = plan
  const { clock } = provision
  let running = 0
  const copy: Mirror = {
    backend: provision.backend(plan.backend),
    bodyBytesMax,
    timeoutMs,
    credentials,
    enter() {
      if (running >= concurrencyMax) return false
      running += 1
      return true
    },
    leave() {
      running -= 1
    },
    ended: (request) => log.mirrored(request),
  }
  return (exchange) => {
    exchange.headers.remove(mirrorField)
    if (percent === 100 || clock.random() * 100 < percent) exchange.mirrorTo(copy)
    return undefined
  }
}
