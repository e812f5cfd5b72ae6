import type {
  PageKey,
  PageRows,
  Pages,
  PartKey,
  TupleChange,
  TupleKey,
  TupleRow,
  TupleSource,
} from "./ports.ts"
import { rowOf } from "./tuple.ts"

const batchRows = 1000

/**
 * Tuples in memory instead of a database, of one store, whatever id it is asked for: for models under test, where a question is asked of a
 * few tuples that live no longer than the process. It keeps every change, and never fails.
 */
export class MemorySource implements TupleSource {
  readonly rows = new Map<string, TupleRow>()
  readonly feed: TupleChange[] = []
  /** As many rows as a page may have. */
  pageRowsMax = Number.POSITIVE_INFINITY
  protected latest = 0

  /** One transaction; returns its changes: none, and no new revision, when it changes nothing. A tuple that is there is replaced. */
  write(...tuples: TupleKey[]): TupleChange[] {
    return this.#commit("write", tuples)
  }

  /** One transaction; returns its changes. */
  delete(...tuples: TupleKey[]): TupleChange[] {
    return this.#commit("delete", tuples)
  }

  #commit(operation: "write" | "delete", tuples: readonly TupleKey[]): TupleChange[] {
    const revision = this.latest + 1
    const changes: TupleChange[] = []
    for (const row of tuples.map(rowOf)) {
      const key = keyOf(row)
      const present = this.rows.get(key)
      if (present !== undefined) changes.push({ revision, operation: "delete", row: present })
      this.rows.delete(key)
      if (operation === "delete") continue
      changes.push({ revision, operation, row })
      this.rows.set(key, row)
    }
    if (changes.length > 0) this.latest = revision
    for (const change of changes) this.feed.push(change)
    return changes
  }

  async revision(_storeId: string): Promise<number> {
    return this.latest
  }

  async load(_storeId: string, onBatch: (rows: readonly TupleRow[]) => void): Promise<number> {
    const rows = [...this.rows.values()]
    const revision = this.latest
    for (let at = 0; at < rows.length; at += batchRows) {
      onBatch(rows.slice(at, at + batchRows))
      await Promise.resolve()
    }
    return revision
  }

  async pages(_storeId: string, keys: readonly PageKey[]): Promise<Pages> {
    const pages = keys.map((key): PageRows => {
      const page = this.#page(key)
      return key.direction !== "point" && page.length > this.pageRowsMax ? "too many" : page
    })
    return { revision: this.latest, pages }
  }

  async list(_storeId: string, key: PartKey, onBatch: (rows: readonly TupleRow[]) => void): Promise<number> {
    const rows = this.#page(key)
    const revision = this.latest
    for (let at = 0; at < rows.length; at += batchRows) {
      onBatch(rows.slice(at, at + batchRows))
      await Promise.resolve()
    }
    return revision
  }

  #page(key: PageKey): TupleRow[] {
    return [...this.rows.values()].filter((row) => {
      const [object, relation, subject, subjectRelation] = row
      if (key.direction === "reverse") {
        const { among } = key
        const wanted =
          among === undefined || (relation === among.relation && object.startsWith(`${among.objectType}:`))
        return subject === key.subject && subjectRelation === key.subjectRelation && wanted
      }
      if (object !== key.object || relation !== key.relation) return false
      if (key.direction === "point") return subject === key.subject && subjectRelation === key.subjectRelation
      const { among } = key
      if (among === undefined) return true
      if (among.subjectRelation === "*") return subject === `${among.subjectType}:*`
      return subjectRelation === among.subjectRelation && subject.startsWith(`${among.subjectType}:`)
    })
  }

  async changes(_storeId: string, revision: number, max: number): Promise<readonly TupleChange[]> {
    const later = this.feed.filter((change) => change.revision > revision)
    const last = later[Math.min(max, later.length) - 1]?.revision ?? revision
    return later.filter((change) => change.revision <= last)
  }

  async stood(_storeId: string, revision: number, keys: readonly TupleRow[]): Promise<readonly TupleRow[]> {
    const written = new Map<string, TupleRow>()
    for (const change of this.feed)
      if (change.revision <= revision && change.operation === "write")
        written.set(keyOf(change.row), change.row)
    return keys.map((key) => written.get(keyOf(key)) ?? key)
  }
}

function keyOf(row: TupleRow): string {
  return row.slice(0, 4).join(" ")
}
