import type { Policy } from "./policy.ts"

/** Names the backend; the gateway sends the request when the section has ended. */
export const forward: Policy<"forward"> = (plan, provision) => {
  const backend = provision.backend(plan.backend)
  return (exchange) => {
    exchange.backend = backend
    return undefined
  }
}
