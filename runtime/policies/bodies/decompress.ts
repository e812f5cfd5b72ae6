import { codingsOf } from "../../http/content-coding.ts"
import { type Exchange, requestBody } from "../exchange.ts"
import { problem } from "../messages/answer.ts"
import { messageOf } from "../messages/message.ts"
import type { Outcome, Policy } from "../policy.ts"

/**
 * Sends the backend the body without its codings. A body that grows too much is refused: it is a waste of the backend's memory, which a few
 * bytes of a caller must not cause.
 */
export const decompress: Policy<"decompress"> = ({ ratioMax }) => {
  const message = messageOf("request")
  const replaceIn = (exchange: Exchange): Outcome => {
    const body = message.body(exchange)
    if (!body.present) return undefined
    const { content } = body
    const sent = exchange.sentLength ?? exchange.bytesReceived
    if (content.length > ratioMax * sent) {
      const cause = `the body has ${content.length} bytes without its coding, more than ${ratioMax} times the ${sent} bytes that were sent`
      return problem("body-too-large", { cause, reason: "BodyGrowsTooMuch" })
    }
    body.replace(content, null)
    return undefined
  }
  return (exchange) => {
    if (codingsOf(message.headers(exchange).get("content-encoding")).length === 0) return undefined
    const loading = exchange.load(requestBody)
    return loading === undefined ? replaceIn(exchange) : loading.then(() => replaceIn(exchange))
  }
}
