// Packs a new embedded database for dist/, so that the first start need not run PostgreSQL's `initdb`.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { brotliCompressSync, constants } from "node:zlib"

/** The packed database, in the format that `runtime/store/packed-database.ts` reads. Takes about 6 s of CPU. */
export async function packDatabase() {
  const { PGlite } = await import("@electric-sql/pglite")
  const folder = mkdtempSync(join(tmpdir(), "sallyport-database-"))
  try {
    const database = await PGlite.create({ dataDir: folder })
    await database.close()
    return compress(pathsIn(folder).map((path) => [relative(folder, path), contentsOf(path)]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Folders before their files. */
function pathsIn(folder) {
  const found = readdirSync(folder, { withFileTypes: true })
  return found.flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? [path, ...pathsIn(path)] : [path]
  })
}

const contentsOf = (path) => (statSync(path).isDirectory() ? undefined : readFileSync(path))

function compress(entries) {
  const list = entries.map(([path, contents]) => (contents === undefined ? [path] : [path, contents.length]))
  const contents = entries.flatMap(([, bytes]) => bytes ?? [])
  const all = Buffer.concat([Buffer.from(`${JSON.stringify(list)}\n`), ...contents])
  // The window of 16 MB finds the three copies of the catalogue: 1.6 MB instead of 3.1.
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 6,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: all.length,
  }
  return brotliCompressSync(all, { params })
}
