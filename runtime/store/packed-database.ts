import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { brotliDecompress } from "node:zlib"

/**
 * Creates the folder of an embedded database from a packed one: a line of JSON with `[path, size in bytes]` for each file and `[path]` for each
 * folder, then the contents of the files, all compressed with Brotli. The build packs it (`compiler/cli/pack-database.mjs`). Running `initdb`
 * instead takes 4 s of CPU and 800 MB.
 */
export async function unpackDatabase(file: string, folder: string): Promise<void> {
  const bytes = await promisify(brotliDecompress)(await readFile(file))
  const lineEnd = bytes.indexOf("\n")
  const entries = JSON.parse(bytes.toString("utf8", 0, lineEnd)) as [path: string, size?: number][]
  // An interrupted start must not leave half a database, so the folder gets its name at the end.
  const partial = `${folder}.new`
  await rm(partial, { recursive: true, force: true })
  await mkdir(dirname(folder), { recursive: true })
  await mkdir(partial, { mode: 0o700 })
  let start = lineEnd + 1
  for (const [path, size] of entries) {
    if (size === undefined) await mkdir(join(partial, path))
    else {
      await writeFile(join(partial, path), bytes.subarray(start, start + size))
      start += size
    }
  }
  await rename(partial, folder)
}
