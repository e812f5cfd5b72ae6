import { Readable } from "node:stream"
import type { EventTopic, LoggedRequest } from "./api.ts"

/** Lines of the log that a stream sends in a second; it counts the others. */
const linesPerSecond = 50
/** What may wait for a slow reader, in bytes. Then the stream has only the newest state of each topic, and counts the lines that it leaves out. */
const waitingBytesMax = 256 * 1024

/** A stream of server-sent events for one reader. It never holds more than the newest state of each topic and some lines of the log. */
export class ConsoleStream extends Readable {
  readonly #states = new Map<EventTopic, string>()
  #lines: string[] = []
  #lineBytes = 0
  #sentThisSecond = 0
  #dropped = 0
  /** The reader takes more. */
  #isWanted = false

  /** Replaces the state of a topic that was not sent yet. */
  state(topic: EventTopic, value: unknown): void {
    this.#states.set(topic, eventText(topic, value))
    this.#flush()
  }

  /** A line of the log; beyond the limits it is only counted. */
  line(line: LoggedRequest): void {
    const text = eventText("log", line)
    if (this.#sentThisSecond >= linesPerSecond || this.#lineBytes + text.length > waitingBytesMax) {
      this.#dropped += 1
      return
    }
    this.#sentThisSecond += 1
    this.#lines.push(text)
    this.#lineBytes += text.length
    this.#flush()
  }

  /** Call it once a second: reports the lines that were left out. */
  tick(): void {
    this.#sentThisSecond = 0
    if (this.#dropped === 0 || this.#lines.length > 0) return
    this.#lines.push(eventText("dropped", { lines: this.#dropped }))
    this.#dropped = 0
    this.#flush()
  }

  /** A comment shows proxies and the reader that the connection works. */
  comment(): void {
    if (this.#isWanted) this.#give(": still connected\n\n")
  }

  /** Ends the stream for a reason that the page shows. */
  finish(reason: string): void {
    this.push(eventText("ended", { reason }))
    this.push(null)
  }

  override _read(): void {
    this.#isWanted = true
    this.#flush()
  }

  #flush(): void {
    if (!this.#isWanted || (this.#states.size === 0 && this.#lines.length === 0)) return
    const text = [...this.#states.values(), ...this.#lines].join("")
    this.#states.clear()
    this.#lines = []
    this.#lineBytes = 0
    this.#give(text)
  }

  #give(text: string): void {
    this.#isWanted = this.push(text)
  }
}

function eventText(event: string, value: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`
}
