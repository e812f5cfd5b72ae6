import { appendFile, rename, rm, stat } from "node:fs/promises"
import { HttpClient } from "../http/client/http-client.ts"
import type { Log } from "../telemetry/log.ts"
import { QueuedSink, type SinkWords } from "./queued-sink.ts"

/** A place to which rows of the audit log are copied. */
export interface AuditSink {
  /** Rows that were not written. */
  readonly dropped: number
  /** Takes a line; it returns at once. */
  write(line: string): void
  /** Writes what waits, at most for a few seconds. */
  close(): Promise<void>
}

/** Where sinks report, and the credential for HTTP. */
interface SinkSettings {
  readonly log: Log
  readonly token: string | undefined
}

const requestMs = 10_000
const fileBytesMax = 100_000_000
/** Older files: `PATH.1` is the newest. */
const filesKept = 5

/** Opens `stdout`, `file:PATH`, or an HTTP URL that gets JSON lines by POST. */
export function openAuditSink(place: string, settings: SinkSettings): AuditSink {
  if (place === "stdout")
    return queued(place, settings, async (lines) => void process.stdout.write(lines.join("")))
  if (place.startsWith("file:")) {
    const path = place.slice("file:".length)
    return queued(place, settings, (lines) => appendRotated(path, lines.join("")))
  }
  const http = new HttpClient()
  const send = (lines: readonly string[]) => post(http, place, lines, settings.token)
  return queued(sinkName(place), settings, send, () => http.close())
}

const words: SinkWords = {
  dropped: "rows of the audit log are dropped by a sink; the table has them",
  failed: "a sink of the audit log fails; rows wait for it",
  recovered: "the sink of the audit log works again",
}

function queued(
  place: string,
  { log }: SinkSettings,
  send: (lines: readonly string[]) => Promise<void>,
  end?: () => Promise<void>,
): AuditSink {
  return new QueuedSink({ place, log, send, end, words, batchMax })
}

/** Lines of one request. */
const batchMax = 500

/** A place in logs and metrics. A URL is shown without its query, which may contain a key. */
export function sinkName(place: string): string {
  return place.replace(/[?#].*$/s, "")
}

/** Appends to a file that only this user can read; a file that has become large is renamed first. */
async function appendRotated(path: string, text: string): Promise<void> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  if (size > 0 && size + text.length > fileBytesMax) {
    await rm(`${path}.${filesKept}`, { force: true })
    for (let number = filesKept - 1; number >= 1; number -= 1)
      await rename(`${path}.${number}`, `${path}.${number + 1}`).catch(() => undefined)
    await rename(path, `${path}.1`)
  }
  await appendFile(path, text, { mode: 0o600 })
}

/** @throws Error for every response but 2xx, which is repeated */
async function post(
  http: HttpClient,
  url: string,
  lines: readonly string[],
  token: string | undefined,
): Promise<void> {
  const { status } = await http.send({
    ...{ url, method: "POST", timeoutMs: requestMs, body: Buffer.from(lines.join("")) },
    headers: [
      "content-type",
      "application/x-ndjson",
      ...(token === undefined ? [] : ["authorization", `Bearer ${token}`]),
    ],
  })
  if (status < 200 || status > 299) throw new Error(`status ${status}`)
}
