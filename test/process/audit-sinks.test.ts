import { mkdtemp, readdir, readFile, rm, stat, truncate } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { openAuditSink } from "../../runtime/process/audit-sinks.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { freePort } from "../support/free-port.ts"

/** More rows than a sink keeps, which is 10,000. */
const rows = 25_000
const kept = 10_000
const row = (at: number) => `{"seq":${at},"hash":"${"0".repeat(64)}","entry":"{}"}\n`
const seqs = (text: string) => [...text.matchAll(/"seq":(\d+)/g)].map(([, seq]) => Number(seq))
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at)

let folder: string
let file: string
let lines: string[]
let settings: Parameters<typeof openAuditSink>[1]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-sinks-"))
  file = join(folder, "audit.jsonl")
  lines = []
  settings = {
    log: createLog({ stream: { write: (line) => void lines.push(line) } }),
    token: undefined,
  }
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test("a file that has become large is renamed, and five older ones are kept", async () => {
  const sink = openAuditSink(`file:${file}`, settings)
  for (let at = 0; at < 8; at += 1) {
    sink.write(row(at))
    const size = () =>
      stat(file).then(
        (found) => found.size,
        () => 0,
      )
    await expect.poll(size).toBe(row(at).length)
    // Without blocks on the disk; the next row does not fit.
    await truncate(file, 99_999_990)
  }
  await sink.close()
  expect((await readdir(folder)).sort()).toEqual([
    "audit.jsonl",
    ...[1, 2, 3, 4, 5].map((number) => `audit.jsonl.${number}`),
  ])
  const first = async (path: string) => {
    await truncate(path, row(0).length)
    return seqs(await readFile(path, "utf8"))
  }
  expect(await first(file)).toEqual([7])
  for (const number of [1, 2, 3, 4, 5]) expect(await first(`${file}.${number}`)).toEqual([7 - number])
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

test("a collector that is away loses what does not fit into the queue, and gets the rest in order, once", async () => {
  const port = await freePort()
  const sink = openAuditSink(`http://127.0.0.1:${port}/rows`, settings)
  for (let at = 0; at < rows; at += 1) sink.write(row(at))
  expect(sink.dropped).toBe(rows - kept)
  await expect.poll(() => lines.join("")).toContain("a sink of the audit log fails; rows wait for it")

  const received: string[] = []
  const sizes: number[] = []
  let isBusy = true
  const server = createServer(async (request, response) => {
    const text = (await request.toArray()).join("")
    // The first request fails after it was read, and is repeated whole.
    if (isBusy) {
      isBusy = false
      response.writeHead(503).end()
      return
    }
    received.push(text)
    sizes.push(seqs(text).length)
    response.end()
  }).listen(port, "127.0.0.1")
  await expect.poll(() => seqs(received.join("")).length).toBe(kept)
  expect(seqs(received.join(""))).toEqual(upTo(kept))
  expect(Math.max(...sizes)).toBe(500)

  // It takes rows again, and says each of these once.
  await expect.poll(() => lines.join("")).toContain("the sink of the audit log works again")
  sink.write(row(rows))
  await expect.poll(() => seqs(received.at(-1) ?? "")).toEqual([rows])
  await sink.close()
  server.close()
  expect(sink.dropped).toBe(rows - kept)
  expect(lines.filter((line) => line.includes("are dropped by a sink"))).toHaveLength(1)
})

test("what a sink has not written at its end counts as lost", async () => {
  const port = await freePort()
  const sink = openAuditSink(`http://127.0.0.1:${port}/rows`, settings)
  for (let at = 0; at < 100; at += 1) sink.write(row(at))
  await sink.close()
  expect(sink.dropped).toBe(100)
})

test("a file that is slow to write loses no row of a burst that fits into the queue", async () => {
  const sink = openAuditSink(`file:${file}`, settings)
  for (let at = 0; at < kept; at += 1) sink.write(row(at))
  await sink.close()
  expect(sink.dropped).toBe(0)
  expect(seqs(await readFile(file, "utf8"))).toEqual(upTo(kept))
})
