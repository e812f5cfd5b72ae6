import { createHmac, timingSafeEqual } from "node:crypto"
import { rm, stat } from "node:fs/promises"
import { dirname } from "node:path"
import * as z from "zod"
import { canonicalJson } from "../plan/canonical.ts"
import { readOwnFile, replaceOwnFile, syncFolder, Unusable } from "./own-file.ts"

const headContent = {
  journal: z.string(),
  rows: z.number().int().nonnegative(),
  hash: z.string(),
  isTaken: z.boolean(),
}
const headFile = z.strictObject({ ...headContent, mac: z.string() })

/** The end of a journal: how many rows it has, and the hash of the last one. `isTaken`: the audit log has all rows. */
export type JournalEnd = z.infer<z.ZodObject<typeof headContent>>

/** A journal as far as its own rows say. */
interface FoundRows {
  readonly id: string
  readonly rows: readonly { readonly hash: string }[]
}

/**
 * The end of a journal, in a file of its own that is replaced atomically after each row. Without it, a tail that was cut from the journal could not be
 * told from one that was never written. The key is derived from a secret, so only a process that has it writes rows and heads.
 */
export class JournalHead {
  readonly path: string
  readonly #key: Buffer

  constructor(path: string, secret: string) {
    this.path = path
    this.#key = createHmac("sha256", secret).update("journal of changes without the database").digest()
  }

  /** The MAC of a row's hash, in hex. */
  macOf(text: string): string {
    return createHmac("sha256", this.#key).update(text).digest("hex")
  }

  async write(end: JournalEnd): Promise<void> {
    await replaceOwnFile(this.path, JSON.stringify({ ...end, mac: this.macOf(canonicalJson(end)) }))
    await syncFolder(dirname(this.path))
  }

  async exists(): Promise<boolean> {
    return (await stat(this.path).catch(() => undefined)) !== undefined
  }

  async remove(): Promise<void> {
    await rm(this.path, { force: true })
    await syncFolder(dirname(this.path))
  }

  /**
   * Undefined: there is none.
   * @throws Unusable when it was altered, or the system's error
   */
  async read(): Promise<JournalEnd | undefined> {
    let text: string
    try {
      text = await readOwnFile(this.path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
      throw error
    }
    const { mac, ...end } = headOf(text)
    if (!isSameMac(this.macOf(canonicalJson(end)), mac))
      throw new Unusable(
        "its head was altered, or SALLYPORT_CONTROL_TOKEN is another one than when it was written",
      )
    return end
  }

  /**
   * What is wrong between the head and the rows; undefined: nothing. A journal may have one row more, because its process can be killed before it writes
   * the head.
   */
  damageOf(head: JournalEnd | undefined, journal: FoundRows | undefined): string | undefined {
    const rows = journal?.rows ?? []
    if (head === undefined) return rows.length === 0 ? undefined : "the head of the journal was removed"
    if (journal === undefined)
      return head.rows === 0 ? undefined : `the journal with ${head.rows} rows was removed`
    if (rows.length < head.rows) return `the journal was cut: it has ${rows.length} of ${head.rows} rows`
    const last = head.rows === 0 ? undefined : rows[head.rows - 1]
    const isSame = rows.length === 0 || head.journal === journal.id
    if (!isSame || rows.length > head.rows + 1 || (last !== undefined && last.hash !== head.hash))
      return "the rows of the journal are not those of its head"
    return undefined
  }
}

/** Compares two MACs in a time that does not depend on where they differ. */
export function isSameMac(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function headOf(text: string): z.infer<typeof headFile> {
  try {
    return headFile.parse(JSON.parse(text))
  } catch {
    throw new Unusable("its head was altered")
  }
}
