import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { createBrotliDecompress } from "node:zlib"

/**
 * Creates the folder of an embedded database from a packed one: a line of JSON with `[path, size in bytes]` for each file and `[path]` for each
 * folder, then the contents of the files, all compressed with Brotli. The build packs it (`compiler/cli/pack-database.mjs`). Running `initdb`
 * instead takes 4 s of CPU and 800 MB.
 */
export async function unpackDatabase(file: string, folder: string): Promise<void> {
  const bytes = new Unpacked(await readFile(file))
  // An interrupted start must not leave half a database, so the folder gets its name at the end.
  const partial = `${folder}.new`
  await rm(partial, { recursive: true, force: true })
  await mkdir(dirname(folder), { recursive: true })
  await mkdir(partial, { mode: 0o700 })
  for (const [path, size] of JSON.parse(await bytes.line()) as [path: string, size?: number][]) {
    if (size === undefined) await mkdir(join(partial, path))
    else await writeFile(join(partial, path), bytes.next(size))
  }
  await rename(partial, folder)
}

/** Decompressed bytes, read in order. The whole is 40 MB, so it is never in memory at once. */
class Unpacked {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(packed: Buffer) {
    const stream = createBrotliDecompress()
    stream.end(packed)
    this.#chunks = stream[Symbol.asyncIterator]()
  }

  /** The bytes before the next line end. */
  async line(): Promise<string> {
    const before: Buffer[] = []
    for (;;) {
      const end = this.#rest.indexOf("\n")
      if (end >= 0) {
        before.push(this.#rest.subarray(0, end))
        this.#rest = this.#rest.subarray(end + 1)
        return Buffer.concat(before).toString("utf8")
      }
      before.push(this.#rest)
      await this.#read()
    }
  }

  /** The next `size` bytes, in pieces. */
  async *next(size: number): AsyncGenerator<Buffer> {
    for (let missing = size; missing > 0; ) {
      if (this.#rest.length === 0) await this.#read()
      const piece = this.#rest.subarray(0, missing)
      this.#rest = this.#rest.subarray(piece.length)
      missing -= piece.length
      yield piece
    }
  }

  async #read(): Promise<void> {
    const { value, done } = await this.#chunks.next()
    if (done) throw new Error("the packed database is incomplete")
    this.#rest = value
  }
}
