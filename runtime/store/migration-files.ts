import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** One file of migrations/. */
export interface Migration {
  /** `001_stores.sql` */
  readonly name: string
  readonly sql: string
  /** SHA-256 of the file, hex. */
  readonly checksum: string
}

/** From a build (dist/) the folder is the neighbour, from the sources two levels up. */
const folders = ["../migrations", "../../migrations"].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

let own: readonly Migration[] | undefined

/** The migrations this version knows, in order. Read once. */
export function ownMigrations(): readonly Migration[] {
  if (own === undefined) {
    const folder = folders.find((path) => existsSync(join(path, "001_stores.sql")))
    if (folder === undefined) throw new Error(`the folder of migrations is missing (expected ${folders[0]})`)
    own = readMigrations(folder)
  }
  return own
}

/** The migrations of a folder in order of their numbers. @throws Error when a name has no number or two have the same. */
export function readMigrations(folder: string): readonly Migration[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort()
  names.forEach((name, index) => {
    if (!/^\d{3}_[a-z0-9_]+\.sql$/.test(name) || Number(name.slice(0, 3)) !== index + 1)
      throw new Error(`migrations/${name}: expected number ${String(index + 1).padStart(3, "0")} here`)
  })
  return names.map((name) => {
    // Line ends as in the repository, whatever git made of them here.
    const sql = readFileSync(join(folder, name), "utf8").replaceAll("\r\n", "\n")
    return { name, sql, checksum: createHash("sha256").update(sql, "utf8").digest("hex") }
  })
}
