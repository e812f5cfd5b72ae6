import type { PageBatch, PageKey } from "../ports.ts"

/** Statements of a store at once. With two, a few questions at a time never wait for one another. */
const statementsMax = 2
/** Pages of several questions in one statement. */
const keysMax = 256

interface Waiting {
  readonly keys: readonly PageKey[]
  readonly revisionMin: number
  readonly resolve: (batch: PageBatch) => void
  readonly reject: (error: unknown) => void
}

/**
 * Reads the pages of a store. While statements are under way, further questions gather, and share the next one: a statement costs the
 * database as much as forty pages in it.
 */
export class PageReads {
  readonly #pages: (keys: readonly PageKey[], revisionMin: number) => Promise<PageBatch>
  #waiting: Waiting[] = []
  #statements = 0

  /** `pages` reads them by one statement, at this revision or a later one. */
  constructor(pages: (keys: readonly PageKey[], revisionMin: number) => Promise<PageBatch>) {
    this.#pages = pages
  }

  /** Resolves like the source's `pages`; the statement begins after the call. Rejects with the source's error. */
  read(keys: readonly PageKey[], revisionMin: number): Promise<PageBatch> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ keys, revisionMin, resolve, reject })
      if (this.#statements < statementsMax) void this.#send()
    })
  }

  async #send(): Promise<void> {
    this.#statements++
    const some = this.#next()
    const revisionMin = Math.max(...some.map((each) => each.revisionMin))
    try {
      const { at, pages } = await this.#pages(
        some.flatMap(({ keys }) => keys),
        revisionMin,
      )
      let from = 0
      for (const { keys, resolve } of some) {
        resolve({ at, pages: pages.slice(from, from + keys.length) })
        from += keys.length
      }
    } catch (error) {
      for (const { reject } of some) reject(error)
    }
    this.#statements--
    if (this.#waiting.length > 0) void this.#send()
  }

  /** The first that wait, as many as one statement takes, and at least one. */
  #next(): readonly Waiting[] {
    let count = 0
    let keys = 0
    for (const waiting of this.#waiting) {
      keys += waiting.keys.length
      if (count > 0 && keys > keysMax) break
      count++
    }
    return this.#waiting.splice(0, count)
  }
}
