import { randomUUID } from "node:crypto"
import type { Database, PreparedStatement } from "./database.ts"

const channel = "sallyport_tuples"

const notify: PreparedStatement = {
  name: "notices-notify",
  text: `select pg_notify('${channel}', $1 || ' ' || id) from unnest($2::text[]) as id`,
}

/**
 * Tells other processes which stores have changed, so that they read the changes before their next poll. A lost notice only costs that
 * time. The embedded database belongs to one process, which knows its own writes.
 */
export class ChangeNotices {
  readonly #database: Database
  /** The database delivers notices to their sender too; this id lets the sender ignore them. */
  readonly #sender = randomUUID()
  readonly #waiting = new Set<string>()
  #sending = false

  constructor(database: Database) {
    this.#database = database
  }

  /** Announces a committed write. Writes that commit while a notice is under way share the next one. */
  announce(storeId: string): void {
    if (this.#database.listen === undefined) return
    this.#waiting.add(storeId)
    if (!this.#sending) void this.#send()
  }

  /** Calls back with every store that another process has changed. Returns a function that stops listening. */
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

/** The notices of a database: one sender for all its writers. */
export function changeNotices(database: Database): ChangeNotices {
  const notices = known.get(database) ?? new ChangeNotices(database)
  known.set(database, notices)
  return notices
}
