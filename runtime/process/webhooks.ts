import { createHmac } from "node:crypto"
import type { ChangeEvent } from "../control/ports.ts"
import { HttpClient } from "../http/client/http-client.ts"
import { newId } from "../store/ids.ts"
import type { Log } from "../telemetry/log.ts"
import { sinkName } from "./audit-sinks.ts"
import { QueuedSink, type SinkWords } from "./queued-sink.ts"

/** Where messages about changes are sent, and the key of the signatures. */
export interface WebhookSettings {
  readonly urls: readonly string[]
  readonly secret: string
}

/** Tells other services about changes. */
export interface Webhooks {
  /** Returns at once. */
  notify(event: ChangeEvent): void
  /** Sends what waits, at most for a few seconds. */
  close(): Promise<void>
}

const requestMs = 10_000

const words: SinkWords = {
  dropped: "messages of a webhook are dropped; the history and the audit log have them",
  failed: "a webhook fails; messages wait for it",
  recovered: "the webhook works again",
}

/**
 * Sends each event to each URL, in order, until it is accepted with a 2xx status. Ids and signatures are those of Standard Webhooks
 * (https://www.standardwebhooks.com): a receiver knows a repeated message by its id, and verifies the signature with a library.
 */
export function openWebhooks({ urls, secret }: WebhookSettings, log: Log): Webhooks {
  const http = new HttpClient()
  const key = keyOf(secret)
  const sinks = urls.map(
    (url) =>
      new QueuedSink({
        ...{ place: sinkName(url), log, words, batchMax: 1 },
        send: async ([line = ""]) => post(http, url, line, key),
      }),
  )
  return {
    notify: ({ type, data }) => {
      const line = JSON.stringify({ id: `msg_${newId()}`, type, timestamp: new Date().toISOString(), data })
      for (const sink of sinks) sink.write(line)
    },
    close: async () => {
      await Promise.all(sinks.map((sink) => sink.close()))
      await http.close()
    },
  }
}

/** `whsec_` begins a key in base64; any other text is the key itself. */
function keyOf(secret: string): Buffer {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1]
  return encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, "base64")
}

/** @throws Error for every response but 2xx, which is repeated */
async function post(http: HttpClient, url: string, line: string, key: Buffer): Promise<void> {
  const { id } = JSON.parse(line) as { id: string }
  // Of this attempt: receivers refuse old ones, which somebody may have recorded.
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${line}`).digest("base64")
  const { status } = await http.send({
    ...{ url, method: "POST", timeoutMs: requestMs, body: Buffer.from(line) },
    headers: [
      ...["content-type", "application/json", "webhook-id", id],
      ...["webhook-timestamp", timestamp, "webhook-signature", `v1,${signature}`],
    ],
  })
  if (status < 200 || status > 299) throw new Error(`status ${status}`)
}
