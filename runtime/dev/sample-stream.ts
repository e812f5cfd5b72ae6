import type { ServerResponse } from "node:http"

/** Maximum values of `?count=` and `?everyMs=`. */
const countMax = 3600
const everyMsMin = 10

/**
 * Responds with server-sent events: one at once, then one a second, ten in all. `?count=` and `?everyMs=` change that. Ends early when the
 * client closes the connection.
 */
export function streamEvents(response: ServerResponse, query: URLSearchParams, backend: string): void {
  const count = Math.min(numberOf(query.get("count")) ?? 10, countMax)
  const everyMs = Math.max(numberOf(query.get("everyMs")) ?? 1000, everyMsMin)
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" })
  let sent = 0
  const send = () => {
    sent += 1
    response.write(`id: ${sent}\ndata: ${JSON.stringify({ backend, event: sent, of: count })}\n\n`)
    if (sent < count) return
    clearInterval(timer)
    response.end()
  }
  const timer = setInterval(send, everyMs)
  response.once("close", () => clearInterval(timer))
  send()
}

function numberOf(text: string | null): number | undefined {
  return text !== null && /^[1-9][0-9]{0,5}$/.test(text) ? Number(text) : undefined
}
