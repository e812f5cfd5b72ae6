import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import * as z from "zod"

/** The id by which a batch is counted once: a ULID. */
export const batchId = z.string().regex(/^[0-9A-Z]{26}$/)

/**
 * Batches that could not be written to the database, one file each in a folder. Processes of a machine may share the folder, and the next process takes
 * over the files of a dead one. This is safe, because the database counts each id once.
 */
export class Spool<Batch extends { readonly id: string }> {
  readonly #folder: string
  readonly #bytesMax: number
  readonly #shape: z.ZodType<Batch>
  #bytes: number | undefined

  constructor(folder: string, bytesMax: number, shape: z.ZodType<Batch>) {
    this.#folder = folder
    this.#bytesMax = bytesMax
    this.#shape = shape
  }

  /** Stores a batch durably (synced to disk); false if the spool is full. Rejects if the folder cannot be written. */
  async put(batch: Batch): Promise<boolean> {
    const text = JSON.stringify(batch)
    const bytes = this.#bytes ?? (await this.#measure())
    if (bytes + text.length > this.#bytesMax) return false
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const path = join(this.#folder, `${batch.id}.json`)
    const file = await open(`${path}.tmp`, "w", 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(`${path}.tmp`, path)
    this.#bytes = bytes + text.length
    return true
  }

  /** Ids of the stored batches, oldest first. */
  async list(): Promise<readonly string[]> {
    const names = await this.#names()
    return names.filter((name) => /^[0-9A-Z]{26}\.json$/.test(name)).map((name) => name.slice(0, 26))
  }

  /** A batch; undefined if another process removed it, or if it is unreadable. An unreadable file is renamed to `.bad`. */
  async get(id: string): Promise<Batch | undefined> {
    const path = join(this.#folder, `${id}.json`)
    const text = await readFile(path, "utf8").catch(() => undefined)
    if (text === undefined) return undefined
    const batch = this.#shape.safeParse(parsed(text))
    if (batch.success && batch.data.id === id) return batch.data
    // Another process may rename it at the same time.
    await rename(path, `${path}.bad`).catch(() => undefined)
    return undefined
  }

  async remove(id: string): Promise<void> {
    await rm(join(this.#folder, `${id}.json`), { force: true })
    this.#bytes = undefined
  }

  async #names(): Promise<string[]> {
    try {
      return (await readdir(this.#folder)).sort()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return []
      throw error
    }
  }

  async #measure(): Promise<number> {
    const sizes = await Promise.all(
      (await this.#names()).map((name) =>
        stat(join(this.#folder, name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    )
    return sizes.reduce((sum, size) => sum + size, 0)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
