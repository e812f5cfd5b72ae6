import { appendFile, rename, rm, stat } from "node:fs/promises"
import { setTimeout as sleep } from "node:timers/promises"
import { HttpClient } from "../http/client/http-client.ts"
import type { Log } from "../telemetry/log.ts"

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

/** Lines that wait for a sink; more are dropped. About 10 MB. */
const waitingMax = 10_000
/** Lines of one request. */
const batchMax = 500
const retryMs = [1_000, 2_000, 5_000, 15_000, 60_000] as const
const closeMs = 3_000
const requestMs = 10_000
const fileBytesMax = 100_000_000
/** Older files: `PATH.1` is the newest. */
const filesKept = 5

/** Opens `stdout`, `file:PATH`, or an HTTP URL that gets JSON lines by POST. */
export function openAuditSink(place: string, settings: SinkSettings): AuditSink {
  if (place === "stdout")
    return new QueuedSink(place, settings.log, async (lines) => void process.stdout.write(lines.join("")))
  if (place.startsWith("file:")) {
    const path = place.slice("file:".length)
    return new QueuedSink(place, settings.log, (lines) => appendRotated(path, lines.join("")))
  }
  const http = new HttpClient()
  const send = (lines: readonly string[]) => post(http, place, lines, settings.token)
  return new QueuedSink(sinkName(place), settings.log, send, () => http.close())
}

/** A place in logs and metrics. A URL is shown without its query, which may contain a key. */
export function sinkName(place: string): string {
  return place.replace(/[?#].*$/s, "")
}

/** Writes in order and one batch at a time. A batch that fails is repeated; when too many lines wait, the newest are dropped. */
class QueuedSink implements AuditSink {
  dropped = 0
  readonly #place: string
  readonly #log: Log
  readonly #send: (lines: readonly string[]) => Promise<void>
  readonly #end: () => Promise<void>
  readonly #waiting: string[] = []
  readonly #closing = new AbortController()
  #sending: Promise<void> | undefined

  constructor(
    place: string,
    log: Log,
    send: (lines: readonly string[]) => Promise<void>,
    end: () => Promise<void> = async () => undefined,
  ) {
    this.#place = place
    this.#log = log
    this.#send = send
    this.#end = end
  }

  write(line: string): void {
    if (this.#waiting.length >= waitingMax) {
      if (this.dropped === 0)
        this.#log.error(
          { sink: this.#place },
          "rows of the audit log are dropped by a sink; the table has them",
        )
      this.dropped += 1
      return
    }
    this.#waiting.push(line)
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined
    })
  }

  async close(): Promise<void> {
    const late = setTimeout(() => this.#closing.abort(), closeMs)
    await this.#sending
    clearTimeout(late)
    this.dropped += this.#waiting.length
    await this.#end()
  }

  async #sendAll(): Promise<void> {
    for (let failures = 0; this.#waiting.length > 0 && !this.#closing.signal.aborted; ) {
      const batch = this.#waiting.slice(0, batchMax)
      try {
        await this.#send(batch)
        this.#waiting.splice(0, batch.length)
        if (failures > 0) this.#log.info({ sink: this.#place }, "the sink of the audit log works again")
        failures = 0
      } catch (error) {
        if (failures === 0)
          this.#log.warn(
            { sink: this.#place, reason: String(error) },
            "a sink of the audit log fails; rows wait for it",
          )
        const wait = retryMs[Math.min(failures, retryMs.length - 1)]
        failures += 1
        await sleep(wait, undefined, { signal: this.#closing.signal }).catch(() => undefined)
      }
    }
  }
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
