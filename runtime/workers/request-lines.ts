import type { LoggedRequest } from "../control/api.ts"

/** How often the parent fetches lines while somebody watches the log. */
const fetchMs = 250
/** A worker whose lines are not fetched for this time stops keeping them. */
const unfetchedMs = 5_000
/** More lines than the console shows in a second. */
const keptMax = 100

type Listen = (listener: (line: LoggedRequest) => void) => () => void

/** In a worker: keeps finished requests for the parent, from its first question until it asks no more. */
export class HeldLines {
  readonly #listen: Listen
  #lines: LoggedRequest[] = []
  #end: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(listen: Listen) {
    this.#listen = listen
  }

  /** The lines since the last call. */
  take(): readonly LoggedRequest[] {
    this.#end ??= this.#listen((line) => {
      if (this.#lines.length < keptMax) this.#lines.push(line)
    })
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#stop(), unfetchedMs)
    this.#timer.unref()
    const lines = this.#lines
    this.#lines = []
    return lines
  }

  #stop(): void {
    this.#end?.()
    this.#end = undefined
    this.#lines = []
  }
}

/** In the parent: the finished requests of all workers, fetched while somebody listens. */
export class FetchedLines {
  readonly #fetch: () => Promise<readonly LoggedRequest[]>
  readonly #listeners = new Set<(line: LoggedRequest) => void>()
  #timer: NodeJS.Timeout | undefined

  /** `fetch`: the lines of all workers since the last call. */
  constructor(fetch: () => Promise<readonly LoggedRequest[]>) {
    this.#fetch = fetch
  }

  listen: Listen = (listener) => {
    this.#listeners.add(listener)
    if (this.#timer === undefined) this.#start()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  #start(): void {
    this.#timer = setInterval(() => void this.#turn(), fetchMs)
    this.#timer.unref()
  }

  async #turn(): Promise<void> {
    for (const line of await this.#fetch().catch(() => []))
      for (const listener of this.#listeners) listener(line)
  }
}
