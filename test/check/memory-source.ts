import { MemorySource as PlainMemorySource } from "../../runtime/check/memory-source.ts"
import {
  type Commit,
  type LoadedBatch,
  type PageBatch,
  type PageKey,
  type PartKey,
  packRows,
  SourceUnavailable,
  type TupleChange,
  type TupleRow,
} from "../../runtime/check/ports.ts"

/** The commit of a revision, as the source in memory makes it. */
export function commit(revision: number): Commit {
  return { revision, stamp: revision === 0 ? "" : String(revision) }
}

/** The tuple source in memory, made to fail at will; it counts what it is asked. */
export class MemorySource extends PlainMemorySource {
  failing = false
  /** Rows loaded in a turn of the event loop, so that a load takes a while; all in one when absent. */
  rowsPerTurn: number | undefined
  readonly asked = { newest: 0, stampOf: 0, load: 0, pages: 0, list: 0, changes: 0, stood: 0, keys: 0 }

  /** As when a backup is restored: everything is as `earlier` had it. */
  restore(earlier: MemorySource): void {
    this.rows.clear()
    for (const [key, row] of earlier.rows) this.rows.set(key, row)
    this.feed.splice(0, this.feed.length, ...earlier.feed)
    this.latest = earlier.latest
  }

  override async newest(storeId: string): Promise<Commit> {
    this.#ask("newest")
    return super.newest(storeId)
  }

  override async stampOf(storeId: string, revision: number): Promise<string | undefined> {
    this.#ask("stampOf")
    return super.stampOf(storeId, revision)
  }

  override async load(storeId: string, onBatch: LoadedBatch): Promise<Commit> {
    this.#ask("load")
    const { rowsPerTurn } = this
    if (rowsPerTurn === undefined) return super.load(storeId, onBatch)
    const rows = [...this.rows.values()]
    const { latest } = this
    for (let from = 0; from < rows.length; from += rowsPerTurn) {
      await new Promise((resolve) => setImmediate(resolve))
      await onBatch(packRows(rows.slice(from, from + rowsPerTurn)))
    }
    return latest
  }

  override async pages(storeId: string, keys: readonly PageKey[]): Promise<PageBatch> {
    this.#ask("pages")
    this.asked.keys += keys.length
    return super.pages(storeId, keys)
  }

  override async list(
    storeId: string,
    key: PartKey,
    onBatch: (rows: readonly TupleRow[]) => void,
  ): Promise<Commit> {
    this.#ask("list")
    return super.list(storeId, key, onBatch)
  }

  override async changes(storeId: string, after: Commit, max: number): Promise<readonly TupleChange[]> {
    this.#ask("changes")
    return super.changes(storeId, after, max)
  }

  override async stood(
    storeId: string,
    revision: number,
    keys: readonly TupleRow[],
  ): Promise<readonly TupleRow[]> {
    this.#ask("stood")
    return super.stood(storeId, revision, keys)
  }

  #ask(what: "newest" | "stampOf" | "load" | "pages" | "list" | "changes" | "stood"): void {
    this.asked[what]++
    if (this.failing) throw new SourceUnavailable("switched off")
  }
}
