import { EventCounts } from "../event-counts.ts"

/** What a client does more often than any real one. */
export type Flood = "resets" | "control-frames"

/** Connections of the listeners of one side that were closed for a flood. */
export class FloodCounts extends EventCounts<Flood> {}

/** A number of events that refills with time, up to a maximum. */
class Allowance {
  readonly #max: number
  readonly #perSecond: number
  #left: number
  #sinceMs = performance.now()

  constructor(max: number, perSecond: number) {
    this.#max = max
    this.#perSecond = perSecond
    this.#left = max
  }

  give(events: number): void {
    this.#left = Math.min(this.#max, this.#left + events)
  }

  /** False: there were too many. */
  take(): boolean {
    if (this.#left < 1) {
      const now = performance.now()
      this.give(((now - this.#sinceMs) / 1000) * this.#perSecond)
      this.#sinceMs = now
    }
    this.#left -= 1
    return this.#left >= 0
  }
}

/** A browser that leaves a page resets all streams of a connection at once, and may do so twice. */
const resetsMax = 200
const resetsPerSecond = 20
/** gRPC clients send a PING with each piece of a response at most, so pieces refill it; others send one in some seconds. */
const controlFramesMax = 1_000
const controlFramesPerSecond = 50

/**
 * Counts what costs a client nothing and the server work: streams that are reset before their response (CVE-2023-44487), and PING, SETTINGS and
 * PRIORITY frames (CVE-2019-9512, CVE-2019-9515). Node and nghttp2 stop the other floods: CONTINUATION, empty DATA, unread replies.
 */
export class FloodGuard {
  readonly #resets = new Allowance(resetsMax, resetsPerSecond)
  readonly #controlFrames = new Allowance(controlFramesMax, controlFramesPerSecond)
  readonly #onFlood: (flood: Flood) => void

  constructor(onFlood: (flood: Flood) => void) {
    this.#onFlood = onFlood
  }

  /** The client has reset a stream whose response was not complete. */
  readonly reset = (): void => {
    if (!this.#resets.take()) this.#onFlood("resets")
  }

  readonly controlFrame = (): void => {
    if (!this.#controlFrames.take()) this.#onFlood("control-frames")
  }

  /** A piece of a response was sent. */
  sent(): void {
    this.#controlFrames.give(1)
  }
}
