import type { Duplex } from "node:stream"
import type { Client } from "pg"
import type { DatabaseState } from "./database.ts"

interface PoolSettings {
  readonly connectionsMax: number
  /** Opens a connection. */
  readonly dial: (signal: AbortSignal) => Promise<Client>
  /** Called when the server ends an idle connection. */
  readonly onLost: (error: Error) => void
}

interface Waiter {
  resolve(client: Client): void
  reject(error: unknown): void
}

const politeMs = 300

/**
 * Connections to one server. A caller gets the connection that was used last, else a new one, else waits its turn. Unlike the pool of
 * node-postgres it takes connections that are already established, so several servers can be tried for one.
 */
export class ConnectionPool {
  readonly #settings: PoolSettings
  readonly #idle: Client[] = []
  readonly #all = new Set<Client>()
  readonly #waiting: Waiter[] = []
  #abort = new AbortController()
  #dialing = 0
  #closed = false
  #onEmpty: (() => void) | undefined

  constructor(settings: PoolSettings) {
    this.#settings = settings
  }

  get state(): DatabaseState["connections"] {
    return {
      max: this.#settings.connectionsMax,
      size: this.#all.size + this.#dialing,
      inUse: this.#all.size - this.#idle.length,
      waiting: this.#waiting.length,
    }
  }

  /** Rejects with the reason why no connection can be opened. Give the connection back with `release`. */
  acquire(): Promise<Client> {
    const client = this.#idle.pop()
    if (client !== undefined) return Promise.resolve(client)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#dialMore()
    })
  }

  /** A `broken` connection is cut, because it may be in the middle of anything. */
  release(client: Client, broken = false): void {
    if (!this.#all.has(client)) return
    if (broken) this.#remove(client)
    else if (this.#closed) this.#end(client)
    else {
      const waiter = this.#waiting.shift()
      if (waiter === undefined) this.#idle.push(client)
      else waiter.resolve(client)
    }
    this.#dialMore()
  }

  /** Cuts all connections, also those in use and those being opened. Later callers get new ones. */
  drop(reason: Error): void {
    this.#abort.abort()
    this.#abort = new AbortController()
    for (const client of this.#all) this.#remove(client)
    for (const waiter of this.#waiting.splice(0)) waiter.reject(reason)
  }

  /** Ends idle connections, then those in use as they are given back, or after a moment. */
  async close(reason: Error): Promise<void> {
    this.#closed = true
    this.#abort.abort()
    for (const waiter of this.#waiting.splice(0)) waiter.reject(reason)
    for (const client of [...this.#idle]) this.#end(client)
    if (this.#all.size === 0) return
    const emptied = new Promise<void>((resolve) => {
      this.#onEmpty = resolve
    })
    const cut = setTimeout(() => {
      for (const client of this.#all) this.#remove(client)
    }, politeMs)
    await emptied
    clearTimeout(cut)
  }

  /** One attempt for each caller that waits, as far as there is room. */
  #dialMore(): void {
    const { connectionsMax } = this.#settings
    while (
      !this.#closed &&
      this.#dialing < this.#waiting.length &&
      this.#all.size + this.#dialing < connectionsMax
    )
      void this.#dial()
  }

  async #dial(): Promise<void> {
    const { signal } = this.#abort
    this.#dialing += 1
    try {
      const client = await this.#settings.dial(signal)
      if (signal.aborted) cutClient(client)
      else this.#add(client)
    } catch (error) {
      // After `drop`, those who wait now wait for other attempts.
      if (!signal.aborted) this.#waiting.shift()?.reject(error)
    }
    this.#dialing -= 1
    this.#dialMore()
  }

  #add(client: Client): void {
    this.#all.add(client)
    client.on("error", (error) => {
      const isIdle = this.#idle.includes(client)
      this.#remove(client)
      if (isIdle) this.#settings.onLost(error)
    })
    this.release(client)
  }

  #end(client: Client): void {
    client.once("end", () => this.#remove(client))
    client.end().catch(() => undefined)
  }

  #remove(client: Client): void {
    const at = this.#idle.indexOf(client)
    if (at >= 0) this.#idle.splice(at, 1)
    cutClient(client)
    if (this.#all.delete(client) && this.#all.size === 0) this.#onEmpty?.()
  }
}

/**
 * Ends a connection whose replies may never come; ending it gracefully would wait for them.
 */
export function cutClient(client: Client): void {
  streamOf(client).destroy()
}

/** What `send` sends before it returns or awaits travels in one write: each one is a system call, and wakes the server. */
export function sendTogether<T>(client: Client, send: () => T): T {
  const stream = streamOf(client)
  stream.cork()
  try {
    return send()
  } finally {
    stream.uncork()
  }
}

/** The property is not in the public types of node-postgres. */
function streamOf(client: Client): Duplex {
  return (client as unknown as { connection: { stream: Duplex } }).connection.stream
}
