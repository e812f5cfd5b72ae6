import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

/** One file of migrations/. */
export interface Migration {
  /** `001_stores.sql` */
  readonly name: string
  readonly sql: string
  /** SHA-256 of the file, hex. */
  readonly checksum: string
}

/** The folder is next to package.json, wherever this module runs from. */
const folder = () => join(dirname(createRequire(import.meta.url).resolve("#package")), "migrations")

let own: readonly Migration[] | undefined

/** The migrations of this version, in order. Read once. */
export function ownMigrations(): readonly Migration[] {
  own ??= readMigrations(folder())
  return own
}

/**
 * The migrations of a folder in order of their numbers.
 * @throws Error when a name has no number or two names have the same one
 */
export function readMigrations(folder: string): readonly Migration[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort()
  names.forEach((name, index) => {
    if (!/^\d{3}_[a-z0-9_]+\.sql$/.test(name) || Number(name.slice(0, 3)) !== index + 1)
      throw new Error(`migrations/${name}: expected number ${String(index + 1).padStart(3, "0")} here`)
  })
  return names.map((name) => {
    // Use the repository's line ends, since git may have converted them in this checkout.
    const sql = readFileSync(join(folder, name), "utf8").replaceAll("\r\n", "\n")
    return { name, sql, checksum: createHash("sha256").update(sql, "utf8").digest("hex") }
  })
}
