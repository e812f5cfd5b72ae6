import type { Duplex } from "node:stream"
import { Client, type ClientConfig } from "pg"

const firstWaitMs = 200
const longestWaitMs = 10_000

/**
 * A connection of its own that listens on a channel, and is made again when it is lost; what was said meanwhile is lost. Returns what ends it.
 */
export function listenOn(
  connection: ClientConfig,
  channel: string,
  onNotice: (payload: string) => void,
): () => void {
  let ended = false
  let client: Client | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let waitMs = firstWaitMs

  const open = async () => {
    // Not bounded by the time of a statement: it waits for ever.
    const opened = new Client({ ...connection, statement_timeout: 0 })
    client = opened
    opened.on("notification", ({ payload }) => onNotice(payload ?? ""))
    opened.on("error", () => undefined)
    opened.once("end", again)
    try {
      await opened.connect()
      await opened.query(`listen ${channel}`)
      waitMs = firstWaitMs
    } catch {
      cut(opened)
    }
    if (ended) cut(opened)
  }
  const again = () => {
    if (ended) return
    clearTimeout(timer)
    timer = setTimeout(() => void open(), waitMs)
    timer.unref()
    waitMs = Math.min(2 * waitMs, longestWaitMs)
  }
  void open()
  return () => {
    ended = true
    clearTimeout(timer)
    if (client !== undefined) cut(client)
  }
}

/** Ending politely would wait for a server that may be mute. The property is not in the public types. */
function cut(client: Client): void {
  ;(client as unknown as { connection: { stream: Duplex } }).connection.stream.destroy()
}
