import { randomUUID } from "node:crypto"
import { mkdir, open, rename, rm, stat } from "node:fs/promises"
import { dirname } from "node:path"
import * as z from "zod"
import type { JournalPlace } from "../control/audit.ts"
import { canonicalJson } from "../plan/canonical.ts"
import { type AuditContent, chainHash } from "../store/audit-log.ts"
import { isSameMac, JournalHead } from "./journal-head.ts"
import { readOwnFile, syncFolder, Unusable } from "./own-file.ts"

/** A row on disk. `entry`: canonical JSON of its content with `journal`, `seq` and `at`. `mac`: of the hash. */
const journalLine = z.strictObject({
  seq: z.number().int().positive(),
  hash: z.string(),
  mac: z.string(),
  entry: z.string(),
})
const journalEntry = z.looseObject({
  journal: z.uuid(),
  seq: z.number().int().positive(),
  at: z.iso.datetime(),
})

/** A row of a journal, with its content. `at`: RFC 3339, by the clock of this machine. */
export interface JournalRow {
  readonly seq: number
  readonly at: string
  readonly hash: string
  readonly content: AuditContent
}

/** The rows of a journal up to the first one that was altered. */
export interface Journal {
  readonly id: string
  readonly rows: readonly JournalRow[]
  /** What is wrong with the file; undefined: nothing. */
  readonly damage: string | undefined
  /** Length of the whole rows in bytes. A longer file ends with a row of a process that was killed while it wrote. */
  readonly bytes: number
}

/**
 * What operators did in this process while the database was unavailable: a file of rows, each with the hash of the row before it, until the audit log
 * has them. A row is on disk before its change is made. The chain begins with the id of the journal. Its end is in a file of its own, so that a tail
 * that was cut is noticed; both are authenticated with a key that is not on this disk.
 */
export class RollbackJournal {
  readonly #path: string
  readonly #head: JournalHead
  #turn: Promise<unknown> = Promise.resolve()

  constructor(path: string, key: string) {
    this.#path = path
    this.#head = new JournalHead(`${path}.head`, key)
  }

  /**
   * Appends a row, and resolves when it is on disk.
   * @throws Unusable when the file was altered, or the system's error; then no row is there
   */
  append(content: AuditContent): Promise<JournalPlace> {
    return this.#inTurn(async () => {
      const before = await this.#read()
      if (before?.damage !== undefined) throw new Unusable(before.damage)
      const { id, rows, bytes } = before ?? { id: randomUUID(), rows: [], bytes: 0 }
      const last = rows.at(-1)
      const seq = (last?.seq ?? 0) + 1
      const entry = canonicalJson({ ...content, journal: id, seq, at: new Date().toISOString() })
      const hash = chainHash(last?.hash ?? id, entry)
      const line = { seq, hash, mac: this.#head.macOf(hash), entry }
      // Before the first row, so that a journal without a head is one whose head was removed.
      if (rows.length === 0) await this.#head.write({ journal: id, rows: 0, hash: id, isTaken: false })
      await this.#write(`${JSON.stringify(line)}\n`, bytes, before === undefined, () =>
        this.#head.write({ journal: id, rows: seq, hash, isTaken: false }),
      )
      return { journal: id, seq }
    })
  }

  /** The journal; undefined: there is none. Does not reject: what is wrong with the file is in `damage`. */
  read(): Promise<Journal | undefined> {
    return this.#inTurn(() => this.#read())
  }

  /**
   * Removes the journal when `take` has resolved; a damaged one is renamed. Nothing is appended meanwhile. Resolves to the reason why the file could not
   * be removed, else undefined. Rejects as `take` does.
   */
  settle(take: (journal: Journal) => Promise<void>): Promise<string | undefined> {
    return this.#inTurn(async () => {
      const journal = await this.#read()
      if (journal === undefined) return undefined
      await take(journal)
      try {
        if (journal.damage === undefined) await this.#remove(journal.id)
        else await this.#setAside()
        return undefined
      } catch (error) {
        return `${this.#path}: ${error instanceof Error ? error.message : String(error)}`
      }
    })
  }

  /** The head says first that the journal was taken: else it would be missing when this process is killed in between. */
  async #remove(id: string): Promise<void> {
    // A folder that was removed meanwhile stays so.
    if (await this.#head.exists()) await this.#head.write({ journal: id, rows: 0, hash: id, isTaken: true })
    await rm(this.#path, { force: true })
    await syncFolder(dirname(this.#path))
    await this.#head.remove()
  }

  async #setAside(): Promise<void> {
    const name = `altered-${randomUUID()}`
    for (const path of [this.#path, this.#head.path])
      await rename(path, `${path}.${name}`).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error
      })
    await syncFolder(dirname(this.#path))
  }

  async #read(): Promise<Journal | undefined> {
    const journal = await this.#readRows()
    if (journal?.damage !== undefined) return journal
    try {
      const head = await this.#head.read()
      if (head?.isTaken === true && (journal === undefined || journal.id === head.journal)) {
        await this.#remove(head.journal)
        return undefined
      }
      const damage = this.#head.damageOf(head, journal)
      if (damage === undefined) return journal
      const found = journal ?? { id: head?.journal ?? "", rows: [], bytes: 0 }
      return { ...found, damage: `${damage} (${this.#path})` }
    } catch (error) {
      return this.#unusable(error)
    }
  }

  async #readRows(): Promise<Journal | undefined> {
    try {
      return journalOf(await readOwnFile(this.#path), (hash) => this.#head.macOf(hash))
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : this.#unusable(error)
    }
  }

  async #unusable(error: unknown): Promise<Journal> {
    const reason = error instanceof Error ? error.message : String(error)
    const { ino, mtimeMs } = await stat(this.#path).catch(() => ({ ino: 0, mtimeMs: 0 }))
    // The same id each time, so that the audit log has it once.
    const id = `${ino}-${mtimeMs}`
    return { id, rows: [], damage: `the journal cannot be used (${this.#path}): ${reason}`, bytes: 0 }
  }

  /** Writes behind the whole rows, then does what belongs to it. After a failure the file is as before. */
  async #write(line: string, bytes: number, isNew: boolean, then: () => Promise<void>): Promise<void> {
    const folder = dirname(this.#path)
    if (isNew) await mkdir(folder, { recursive: true, mode: 0o700 })
    const file = await open(this.#path, isNew ? "wx" : "r+", 0o600)
    try {
      await file.truncate(bytes)
      await file.write(line, bytes)
      await file.sync()
      if (isNew) await syncFolder(folder)
      await then()
    } catch (error) {
      await file.truncate(bytes).catch(() => undefined)
      throw error
    } finally {
      await file.close()
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => {})
    return turn
  }
}

function journalOf(text: string, macOf: (hash: string) => string): Journal | undefined {
  const whole = text.slice(0, text.lastIndexOf("\n") + 1)
  // Only the beginning of the first row: its process was killed before it changed anything.
  if (whole === "") return { id: randomUUID(), rows: [], damage: undefined, bytes: 0 }
  const rows: JournalRow[] = []
  let id: string | undefined
  for (const line of whole.trimEnd().split("\n")) {
    const row = rowOf(line)
    id ??= row?.content["journal"] as string | undefined
    const before = rows.at(-1)
    const isNext =
      row !== undefined &&
      row.seq === (before?.seq ?? 0) + 1 &&
      row.content["journal"] === id &&
      chainHash(before?.hash ?? id ?? "", row.entry) === row.hash &&
      isSameMac(macOf(row.hash), row.mac)
    if (!isNext) {
      if (id === undefined) throw new Unusable("its first row was altered")
      const damage = `the journal of changes without the database was altered after row ${rows.length}`
      return { id, rows, damage, bytes: 0 }
    }
    rows.push(row)
  }
  return { id: id ?? "", rows, damage: undefined, bytes: Buffer.byteLength(whole) }
}

function rowOf(line: string): (JournalRow & { readonly entry: string; readonly mac: string }) | undefined {
  try {
    const { entry, hash, mac, seq } = journalLine.parse(JSON.parse(line))
    const content = journalEntry.parse(JSON.parse(entry))
    return content.seq === seq ? { seq, at: content.at, hash, mac, content, entry } : undefined
  } catch {
    return undefined
  }
}
