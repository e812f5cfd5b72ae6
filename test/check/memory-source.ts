import { MemorySource as PlainMemorySource } from "../../runtime/check/memory-source.ts"
import {
  type PageKey,
  type Pages,
  type PartKey,
  SourceUnavailable,
  type TupleChange,
  type TupleRow,
} from "../../runtime/check/ports.ts"

/** The tuple source in memory, made to fail at will; it counts what it is asked. */
export class MemorySource extends PlainMemorySource {
  failing = false
  /** Rows loaded in a turn of the event loop, so that a load takes a while; all in one when absent. */
  rowsPerTurn: number | undefined
  readonly asked = { revision: 0, load: 0, pages: 0, list: 0, changes: 0, stood: 0, keys: 0 }

  /** As when a backup is restored: everything is as `earlier` had it. */
  restore(earlier: MemorySource): void {
    this.rows.clear()
    for (const [key, row] of earlier.rows) this.rows.set(key, row)
    this.feed.splice(0, this.feed.length, ...earlier.feed)
    this.latest = earlier.latest
  }

  override async revision(storeId: string): Promise<number> {
    this.#ask("revision")
    return super.revision(storeId)
  }

  override async load(storeId: string, onBatch: (rows: readonly TupleRow[]) => void): Promise<number> {
    this.#ask("load")
    const { rowsPerTurn } = this
    if (rowsPerTurn === undefined) return super.load(storeId, onBatch)
    const rows = [...this.rows.values()]
    const revision = this.latest
    for (let at = 0; at < rows.length; at += rowsPerTurn) {
      await new Promise((resolve) => setImmediate(resolve))
      onBatch(rows.slice(at, at + rowsPerTurn))
    }
    return revision
  }

  override async pages(storeId: string, keys: readonly PageKey[]): Promise<Pages> {
    this.#ask("pages")
    this.asked.keys += keys.length
    return super.pages(storeId, keys)
  }

  override async list(
    storeId: string,
    key: PartKey,
    onBatch: (rows: readonly TupleRow[]) => void,
  ): Promise<number> {
    this.#ask("list")
    return super.list(storeId, key, onBatch)
  }

  override async changes(storeId: string, revision: number, max: number): Promise<readonly TupleChange[]> {
    this.#ask("changes")
    return super.changes(storeId, revision, max)
  }

  override async stood(
    storeId: string,
    revision: number,
    keys: readonly TupleRow[],
  ): Promise<readonly TupleRow[]> {
    this.#ask("stood")
    return super.stood(storeId, revision, keys)
  }

  #ask(what: "revision" | "load" | "pages" | "list" | "changes" | "stood"): void {
    this.asked[what]++
    if (this.failing) throw new SourceUnavailable("switched off")
  }
}
