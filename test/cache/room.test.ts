import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build } from "esbuild"
import { afterAll, beforeAll, expect, test } from "vitest"
import { projectRoot } from "../structure/tree.ts"

// Room is said in bytes because somebody has so many: what the cache takes of a process must be what it counts. Buffers cost most outside of the heap, where only the size of the process shows it.

const mebibyte = 1024 ** 2
let folder = ""

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sallyport-room-"))
  await build({
    ...{ bundle: true, format: "esm", platform: "node", logLevel: "error" },
    entryPoints: [`${projectRoot}runtime/cache/memory.ts`],
    outfile: join(folder, "memory.mjs"),
  })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Fills a cache in a process of its own until the first entry leaves. */
const program = `
import { createMemoryCache } from "./memory.mjs"
const settle = async () => { for (let at = 0; at < 4; at += 1) { gc(); await new Promise((done) => setTimeout(done, 50)) } }
const size = Number(process.argv[1])
await settle()
const before = process.memoryUsage().rss
const cache = createMemoryCache({ bytesMax: ${64 * mebibyte} })
for (let at = 0; cache.stats().evictions === 0; at += 1) {
  cache.set("response sha256:" + "0".repeat(64) + " GET /orders/" + at, Buffer.alloc(size, at), 3_600_000)
  if (at % 1_000 === 0) await new Promise(setImmediate)
}
await settle()
console.log(JSON.stringify({ counted: cache.stats().bytes, taken: process.memoryUsage().rss - before }))
`

test.each([10, 100, 1_000, 20_000])("entries of %i bytes take the room they are counted with", (size) => {
  const { counted, taken } = JSON.parse(
    execFileSync(
      process.execPath,
      ["--expose-gc", "--input-type=module", "-e", program, "--", String(size)],
      { cwd: folder, encoding: "utf8" },
    ),
  ) as { counted: number; taken: number }
  expect(counted / mebibyte).toBeGreaterThan(60)
  // With 200 bytes for an entry: 2.3, 2.1, 1.5 and 1.1.
  expect(taken / counted).toBeLessThan(1.4)
})
