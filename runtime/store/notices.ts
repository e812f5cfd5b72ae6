import { randomUUID } from "node:crypto"
import type { Database, PreparedStatement } from "./database.ts"

/** What has changed: the plan, the issued subscriptions, certificates from ACME, or the tuples of the store with this id. */
export type NoticeTopic = "plans" | "subscriptions" | "certificates" | `store ${string}`

const channel = "sallyport"

const notify: PreparedStatement = {
  name: "notices-notify",
  text: `select pg_notify('${channel}', $1 || ' ' || topic) from unnest($2::text[]) as topic`,
}

/**
 * Tells other processes what has changed, so that they read it before their next poll. A lost notice only costs that time. All topics share
 * one channel, so that a process needs one listening connection. The embedded database belongs to one process, which knows its own changes.
 */
export class Notices {
  readonly #database: Database
  /** The database delivers notices to their sender too; this id lets the sender ignore them. */
  readonly #sender = randomUUID()
  readonly #waiting = new Set<NoticeTopic>()
  readonly #listeners = new Set<(topic: string) => void>()
  readonly #ownListeners = new Set<(topic: NoticeTopic) => void>()
  #stop: (() => void) | undefined
  #sending = false

  constructor(database: Database) {
    this.#database = database
  }

  /** Announces a committed change. Changes that commit while a notice is under way share the next one. */
  announce(topic: NoticeTopic): void {
    for (const listener of this.#ownListeners) listener(topic)
    if (this.#database.listen === undefined || this.#database.missing.has("notices")) return
    this.#waiting.add(topic)
    if (!this.#sending) void this.#send()
  }

  /** Calls back when another process has changed this topic. Returns a function that stops listening. */
  listen(topic: NoticeTopic, onChanged: () => void): () => void {
    return this.#add((heard) => {
      if (heard === topic) onChanged()
    })
  }

  /** Calls back with the id of every store whose tuples another process has changed. Returns a function that stops listening. */
  listenToStores(onChanged: (storeId: string) => void): () => void {
    return this.#add((heard) => {
      if (heard.startsWith("store ")) onChanged(heard.slice("store ".length))
    })
  }

  /** The same for changes by this process as well, also on the embedded database. */
  listenToAllStores(onChanged: (storeId: string) => void): () => void {
    const stop = this.listenToStores(onChanged)
    const own = (topic: NoticeTopic) => {
      if (topic.startsWith("store ")) onChanged(topic.slice("store ".length))
    }
    this.#ownListeners.add(own)
    return () => {
      this.#ownListeners.delete(own)
      stop()
    }
  }

  #add(listener: (topic: string) => void): () => void {
    this.#listeners.add(listener)
    this.#stop ??= this.#database.listen?.(channel, (payload) => this.#heard(payload))
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#stop?.()
      this.#stop = undefined
    }
  }

  #heard(payload: string): void {
    const space = payload.indexOf(" ")
    if (payload.slice(0, space) === this.#sender) return
    for (const listener of this.#listeners) listener(payload.slice(space + 1))
  }

  async #send(): Promise<void> {
    this.#sending = true
    while (this.#waiting.size > 0) {
      const topics = [...this.#waiting]
      this.#waiting.clear()
      // In no transaction of a change: the server holds a lock over all notices until such a transaction has reached the disk.
      await this.#database.query(notify, [this.#sender, topics]).catch(() => undefined)
    }
    this.#sending = false
  }
}

const known = new WeakMap<Database, Notices>()

/** The notices of a database: one sender and one listening connection for all of the process. */
export function noticesOf(database: Database): Notices {
  const notices = known.get(database) ?? new Notices(database)
  known.set(database, notices)
  return notices
}
