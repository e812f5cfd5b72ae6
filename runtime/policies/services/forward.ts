import { type Exchange, requestBody, responseBody } from "../exchange.ts"
import { problem } from "../messages/answer.ts"
import { followRedirects } from "../messages/redirects.ts"
import type { Outcome, Policy } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { compileCount } from "../values/value.ts"

/** Sends the request to the backend and waits for the head of the response; the body follows after the section. */
export const forward: Policy<"forward"> = (plan, provision) => {
  const own = plan.backend === null ? undefined : provision.backend(plan.backend)
  const timeout =
    plan.timeoutMs === undefined || plan.timeoutMs === null
      ? plan.timeoutMs
      : compileCount(plan.timeoutMs, provision)
  const key = plan.hashKey === undefined ? undefined : compileText(plan.hashKey, provision, anyText)
  const { bufferResponse, failOnStatus } = plan
  const backends = plan.followRedirects ? provision.backendsByUrl() : undefined
  // A redirect may need the same body again.
  if (plan.bufferRequest || backends !== undefined) provision.need(requestBody)
  const answered = async (exchange: Exchange): Promise<Outcome> => {
    const { response } = exchange
    if (failOnStatus && response !== undefined && response.status >= 400)
      return problem("backend-refused", {
        status: response.status,
        cause: `the backend responded with ${response.status}`,
      })
    if (bufferResponse) await exchange.load(responseBody)
    return undefined
  }
  const asks = bufferResponse || failOnStatus
  return (exchange) => {
    const backend = exchange.backend ?? own
    if (backend === undefined) return problem("internal-error", { cause: "no backend was chosen" })
    exchange.backend = backend
    const timeoutMs = typeof timeout === "function" ? timeout(exchange) : timeout
    const options = { timeoutMs, key: key?.of(exchange) ?? exchange.ip }
    const first = exchange.send(backend, options)
    const sent =
      backends === undefined
        ? first
        : first.then((found) => found ?? followRedirects(exchange, backends, options))
    return asks ? sent.then((found) => found ?? answered(exchange)) : sent
  }
}
