import { once } from "node:events"
import { type ClientRequest, type IncomingMessage, request } from "node:http"

/** An event as a client gets it; `data` is its JSON. */
export interface ReceivedEvent {
  readonly id: string
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says.
  readonly data: any
}

/** A stream of Server-Sent Events over a connection of its own. */
export interface EventClient {
  readonly status: number
  readonly answer: IncomingMessage
  readonly events: readonly ReceivedEvent[]
  /** The last id, of an event or of a block without data. */
  lastId(): string
  /** All that was received. */
  text(): string
  readonly ended: Promise<void>
  close(): void
}

/**
 * Opens a stream and reads it as the WHATWG's "Interpreting an event stream" says. It calls back with each event; a stream that ends at once has no
 * last id.
 */
export async function openEvents(
  url: string,
  headers: Record<string, string> = {},
  onEvent: (event: ReceivedEvent) => void = () => undefined,
): Promise<EventClient> {
  const sent: ClientRequest = request(url, {
    headers: { accept: "text/event-stream", ...headers },
    agent: false,
  })
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once("response", resolve)
    sent.once("error", reject)
    sent.end()
  })
  sent.on("error", () => undefined)
  const events: ReceivedEvent[] = []
  let id = ""
  let all = ""
  let rest = ""
  answer.setEncoding("utf8")
  answer.on("data", (chunk: string) => {
    all += chunk
    rest += chunk
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const fields = new Map(
        rest
          .slice(0, end)
          .split("\n")
          .map((line) => splitField(line)),
      )
      rest = rest.slice(end + 2)
      id = fields.get("id") ?? id
      const data = fields.get("data")
      if (data === undefined) continue
      const event = { id, event: fields.get("event") ?? "message", data: JSON.parse(data) }
      events.push(event)
      onEvent(event)
    }
  })
  const ended = new Promise<void>((resolve) => answer.once("close", resolve))
  answer.on("error", () => undefined)
  // The first block has an id and no data.
  if (answer.statusCode === 200)
    while (id === "" && !answer.closed) await Promise.race([once(answer, "data"), ended])
  const close = () => sent.destroy()
  return { status: answer.statusCode ?? 0, answer, events, lastId: () => id, text: () => all, ended, close }
}

function splitField(line: string): [string, string] {
  const colon = line.indexOf(":")
  return [line.slice(0, colon), line.slice(colon + 1).trimStart()]
}
