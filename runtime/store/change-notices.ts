import { randomUUID } from "node:crypto"
import type { Database, PreparedStatement } from "./database.ts"

const channel = "sallyport_tuples"

const notify: PreparedStatement = {
  name: "notices-notify",
  text: `select pg_notify('${channel}', $1 || ' ' || id) from unnest($2::text[]) as id`,
}

/**
 * Tells other processes which stores have changed, so that they need not wait until they ask. A hint and nothing more: what is lost costs the time of a poll.
 * The embedded database belongs to one process, which hears its own writes anyway.
 */
export class ChangeNotices {
  readonly #database: Database
  /** Notices come back to their sender. */
  readonly #sender = randomUUID()
  readonly #waiting = new Set<string>()
  #sending = false

  constructor(database: Database) {
    this.#database = database
  }

  /** A write was committed. While one notice is on its way, the next gather. */
  announce(storeId: string): void {
    if (this.#database.listen === undefined) return
    this.#waiting.add(storeId)
    if (!this.#sending) void this.#send()
  }

  /** Calls back with every store another process has changed; returns what ends it. */
  listen(onChanged: (storeId: string) => void): () => void {
    const heard = (payload: string) => {
      const [sender, storeId] = payload.split(" ")
      if (sender !== this.#sender && storeId !== undefined) onChanged(storeId)
    }
    return this.#database.listen?.(channel, heard) ?? (() => undefined)
  }

  async #send(): Promise<void> {
    this.#sending = true
    while (this.#waiting.size > 0) {
      const stores = [...this.#waiting]
      this.#waiting.clear()
      await this.#database.query(notify, [this.#sender, stores]).catch(() => undefined)
    }
    this.#sending = false
  }
}

const known = new WeakMap<Database, ChangeNotices>()

/** The notices of a database: one sender for all that write to it. */
export function changeNotices(database: Database): ChangeNotices {
  const notices = known.get(database) ?? new ChangeNotices(database)
  known.set(database, notices)
  return notices
}
