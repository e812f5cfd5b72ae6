import {
  type PageKey,
  type Pages,
  SourceUnavailable,
  type TupleChange,
  type TupleKey,
  type TupleRow,
  type TupleSource,
} from "../../runtime/check/ports.ts"
import { rowOf } from "../../runtime/check/tuple.ts"

/** A tuple source in memory with one store, whatever id it is asked for. It can be made to fail, and counts what it is asked. */
export class MemorySource implements TupleSource {
  readonly rows = new Map<string, TupleRow>()
  readonly feed: TupleChange[] = []
  failing = false
  readonly asked = { revision: 0, load: 0, pages: 0, changes: 0, keys: 0 }
  #revision = 0

  /** One transaction; returns its changes. */
  write(...tuples: TupleKey[]): TupleChange[] {
    return this.#commit("write", tuples)
  }

  delete(...tuples: TupleKey[]): TupleChange[] {
    return this.#commit("delete", tuples)
  }

  /** As when a backup is restored: everything is as `earlier` had it. */
  restore(earlier: MemorySource): void {
    this.rows.clear()
    for (const [key, row] of earlier.rows) this.rows.set(key, row)
    this.feed.splice(0, this.feed.length, ...earlier.feed)
    this.#revision = earlier.#revision
  }

  #commit(operation: "write" | "delete", tuples: readonly TupleKey[]): TupleChange[] {
    this.#revision++
    const changes = tuples.map((tuple) => ({ revision: this.#revision, operation, row: rowOf(tuple) }))
    for (const { row } of changes) {
      const key = row.slice(0, 4).join(" ")
      if (operation === "write") this.rows.set(key, row)
      else this.rows.delete(key)
    }
    this.feed.push(...changes)
    return changes
  }

  async revision(): Promise<number> {
    this.#ask("revision")
    return this.#revision
  }

  async load(_storeId: string, onBatch: (rows: readonly TupleRow[]) => void): Promise<number> {
    this.#ask("load")
    const rows = [...this.rows.values()]
    const revision = this.#revision
    for (let at = 0; at < rows.length; at += 1000) {
      onBatch(rows.slice(at, at + 1000))
      await Promise.resolve()
    }
    return revision
  }

  async pages(_storeId: string, keys: readonly PageKey[]): Promise<Pages> {
    this.#ask("pages")
    this.asked.keys += keys.length
    const rows = [...this.rows.values()]
    const pages = keys.map((key) =>
      rows.filter((row) =>
        key.direction === "forward"
          ? row[0] === key.object && row[1] === key.relation
          : row[2] === key.subject && row[3] === key.subjectRelation,
      ),
    )
    return { revision: this.#revision, pages }
  }

  async changes(_storeId: string, revision: number, max: number): Promise<readonly TupleChange[]> {
    this.#ask("changes")
    const later = this.feed.filter((change) => change.revision > revision)
    const last = later[Math.min(max, later.length) - 1]?.revision ?? revision
    return later.filter((change) => change.revision <= last)
  }

  #ask(what: "revision" | "load" | "pages" | "changes"): void {
    this.asked[what]++
    if (this.failing) throw new SourceUnavailable("switched off")
  }
}
