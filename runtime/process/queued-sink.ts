import { setTimeout as sleep } from "node:timers/promises"
import type { Log } from "../telemetry/log.ts"

/** What the log says about a sink. */
export interface SinkWords {
  readonly dropped: string
  readonly failed: string
  readonly recovered: string
}

/** Where lines go. `send` gets at most `batchMax` lines, and rejects when they shall be repeated. */
interface QueuedSinkSettings {
  /** In logs. */
  readonly place: string
  readonly log: Log
  readonly send: (lines: readonly string[]) => Promise<void>
  readonly end?: (() => Promise<void>) | undefined
  readonly words: SinkWords
  readonly batchMax: number
}

/** Lines that wait for a sink; more are dropped. About 10 MB. */
const waitingMax = 10_000
const retryMs = [1_000, 2_000, 5_000, 15_000, 60_000] as const
const closeMs = 3_000

/** Writes in order and one batch at a time. A batch that fails is repeated; when too many lines wait, the newest are dropped. */
export class QueuedSink {
  /** Lines that were not sent. */
  dropped = 0
  readonly #settings: QueuedSinkSettings
  readonly #waiting: string[] = []
  readonly #closing = new AbortController()
  #sending: Promise<void> | undefined

  constructor(settings: QueuedSinkSettings) {
    this.#settings = settings
  }

  /** Takes a line; it returns at once. */
  write(line: string): void {
    if (this.#waiting.length >= waitingMax) {
      if (this.dropped === 0)
        this.#settings.log.error({ sink: this.#settings.place }, this.#settings.words.dropped)
      this.dropped += 1
      return
    }
    this.#waiting.push(line)
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined
    })
  }

  /** Sends what waits, at most for a few seconds. */
  async close(): Promise<void> {
    const late = setTimeout(() => this.#closing.abort(), closeMs)
    await this.#sending
    clearTimeout(late)
    this.dropped += this.#waiting.length
    await this.#settings.end?.()
  }

  async #sendAll(): Promise<void> {
    const { place, log, send, words, batchMax } = this.#settings
    for (let failures = 0; this.#waiting.length > 0 && !this.#closing.signal.aborted; ) {
      const batch = this.#waiting.slice(0, batchMax)
      try {
        await send(batch)
        this.#waiting.splice(0, batch.length)
        if (failures > 0) log.info({ sink: place }, words.recovered)
        failures = 0
      } catch (error) {
        if (failures === 0) log.warn({ sink: place, reason: String(error) }, words.failed)
        const wait = retryMs[Math.min(failures, retryMs.length - 1)]
        failures += 1
        await sleep(wait, undefined, { signal: this.#closing.signal }).catch(() => undefined)
      }
    }
  }
}
