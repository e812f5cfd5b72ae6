import {
  type Commit,
  firstCommit,
  HistoryLost,
  type LoadedBatch,
  type PageBatch,
  type PageKey,
  type PageRows,
  type PartKey,
  packRows,
  type TupleChange,
  type TupleKey,
  type TupleRow,
  type TupleSource,
} from "./ports.ts"
import { rowOf } from "./tuple.ts"

const batchRows = 1000

interface Groups {
  readonly at: Commit
  readonly byObject: ReadonlyMap<string, readonly TupleRow[]>
  readonly bySubject: ReadonlyMap<string, readonly TupleRow[]>
}

/**
 * Tuples of one store in memory instead of a database, for any store id. For models under test, where a question needs a few tuples that
 * live no longer than the process. It keeps every change and never fails.
 */
export class MemorySource implements TupleSource {
  readonly rows = new Map<string, TupleRow>()
  readonly feed: TupleChange[] = []
  /** The maximum number of rows of a page. */
  pageRowsMax = Number.POSITIVE_INFINITY
  protected latest: Commit = firstCommit
  #groups: Groups = { at: firstCommit, byObject: new Map(), bySubject: new Map() }

  /** One transaction; returns its changes. Without changes there is no new revision. An existing tuple is replaced. */
  write(...tuples: TupleKey[]): TupleChange[] {
    return this.#commit("write", tuples)
  }

  /** One transaction; returns its changes. */
  delete(...tuples: TupleKey[]): TupleChange[] {
    return this.#commit("delete", tuples)
  }

  #commit(operation: "write" | "delete", tuples: readonly TupleKey[]): TupleChange[] {
    const revision = this.latest.revision + 1
    const stamp = this.stampOfNext(revision)
    const previous = this.latest.stamp
    const changes: TupleChange[] = []
    for (const row of tuples.map(rowOf)) {
      const key = keyOf(row)
      const present = this.rows.get(key)
      if (present !== undefined)
        changes.push({ revision, stamp, previous, operation: "delete", row: present })
      this.rows.delete(key)
      if (operation === "delete") continue
      changes.push({ revision, stamp, previous, operation, row })
      this.rows.set(key, row)
    }
    if (changes.length > 0) this.latest = { revision, stamp }
    for (const change of changes) this.feed.push(change)
    return changes
  }

  /** A memory source loses nothing, so the number is unique enough as a stamp. */
  protected stampOfNext(revision: number): string {
    return String(revision)
  }

  async newest(_storeId: string): Promise<Commit> {
    return this.latest
  }

  async stampOf(_storeId: string, revision: number): Promise<string | undefined> {
    return this.#stampOf(revision)
  }

  #stampOf(revision: number): string | undefined {
    return revision === 0 ? "" : this.feed.find((change) => change.revision === revision)?.stamp
  }

  async load(_storeId: string, onBatch: LoadedBatch): Promise<Commit> {
    const rows = [...this.rows.values()]
    const at = this.latest
    for (let from = 0; from < rows.length; from += batchRows)
      await onBatch(
        packRows(rows.slice(from, from + batchRows)),
        Math.min(1, (from + batchRows) / rows.length),
      )
    return at
  }

  async pages(_storeId: string, keys: readonly PageKey[]): Promise<PageBatch> {
    const pages = keys.map((key): PageRows => {
      const page = this.#page(key)
      return key.direction !== "point" && page.length > this.pageRowsMax ? "too many" : page
    })
    return { at: this.latest, pages }
  }

  async list(_storeId: string, key: PartKey, onBatch: (rows: readonly TupleRow[]) => void): Promise<Commit> {
    const rows = this.#page(key)
    const at = this.latest
    for (let from = 0; from < rows.length; from += batchRows) {
      onBatch(rows.slice(from, from + batchRows))
      await Promise.resolve()
    }
    return at
  }

  /** The rows by object and by subject at `latest`: a list may ask for a page of each object. */
  #grouped(): Groups {
    if (this.#groups.at === this.latest) return this.#groups
    const byObject = new Map<string, TupleRow[]>()
    const bySubject = new Map<string, TupleRow[]>()
    for (const row of this.rows.values()) {
      addTo(byObject, row[0], row)
      addTo(bySubject, row[2], row)
    }
    this.#groups = { at: this.latest, byObject, bySubject }
    return this.#groups
  }

  #page(key: PageKey): TupleRow[] {
    const { byObject, bySubject } = this.#grouped()
    const rows = (key.direction === "reverse" ? bySubject.get(key.subject) : byObject.get(key.object)) ?? []
    return rows.filter((row) => {
      const [object, relation, subject, subjectRelation] = row
      if (key.direction === "reverse") {
        const { among } = key
        const wanted =
          among === undefined || (relation === among.relation && object.startsWith(`${among.objectType}:`))
        return subjectRelation === key.subjectRelation && wanted
      }
      if (relation !== key.relation) return false
      if (key.direction === "point") return subject === key.subject && subjectRelation === key.subjectRelation
      const { among } = key
      if (among === undefined) return true
      if (among.subjectRelation === "*") return subject === `${among.subjectType}:*`
      return subjectRelation === among.subjectRelation && subject.startsWith(`${among.subjectType}:`)
    })
  }

  async changes(_storeId: string, after: Commit, max: number): Promise<readonly TupleChange[]> {
    if (this.#stampOf(after.revision) !== after.stamp) throw new HistoryLost()
    const later = this.feed.filter((change) => change.revision > after.revision)
    const last = later[Math.min(max, later.length) - 1]?.revision ?? after.revision
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

function addTo(groups: Map<string, TupleRow[]>, name: string, row: TupleRow): void {
  const group = groups.get(name)
  if (group === undefined) groups.set(name, [row])
  else group.push(row)
}

function keyOf(row: TupleRow): string {
  return row.slice(0, 4).join(" ")
}
