import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { openRecord } from "../../runtime/record/read-record.ts"
import { lineOf, type RecordCounts, RecordWriter } from "../../runtime/record/record-writer.ts"
import type { RecordedRequest } from "../../runtime/record/recorded-request.ts"
import { recordKey } from "../../runtime/record/segment.ts"

const secret = "a secret of the record of requests"
let folder = ""

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "sallyport-record-")), "traffic")
})
afterEach(() => rmSync(join(folder, ".."), { recursive: true, force: true }))

function requestOf(target: string, userAgent = "test"): RecordedRequest {
  return {
    ...{ atMs: 1, plan: "sha256:1", method: "GET", target, host: "api.example" },
    ...{ headers: [["user-agent", userAgent]], left: [], bodyBytes: 0, ip: "203.0.113.0", wholeIp: false },
    ...{ caller: "c", answers: [], responses: [] },
    outcome: { route: "GET /", status: 200, problem: null, reason: null, by: null },
  }
}

function writerOf(bytesMax = 2 ** 20, onChange: (reason: string | undefined) => void = () => undefined) {
  const counts: RecordCounts = { recorded: 0, bytes: 0, dropped: { "queue-full": 0, "write-failed": 0 } }
  const writer = new RecordWriter({ folder, key: recordKey(secret), bytesMax, counts, onChange, everyMs: 1 })
  return { writer, counts, write: (target: string) => writer.write(lineOf(requestOf(target), [])) }
}

async function targetsOf(of = secret) {
  const record = await openRecord(folder, of)
  const targets: string[] = []
  for await (const { target } of record.requests()) targets.push(target)
  return {
    targets,
    endings: Object.fromEntries(Object.entries(record.endings).filter(([, count]) => count > 0)),
  }
}

function segments(): string[] {
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name))
}

test("what was written is read again, in order, and only with the secret", async () => {
  const first = writerOf(2 ** 30)
  for (let at = 0; at < 1000; at += 1) first.write(`/${at}`)
  await first.writer.close()
  expect(first.counts).toMatchObject({ recorded: 1000, dropped: { "queue-full": 0, "write-failed": 0 } })
  const { targets, endings } = await targetsOf()
  expect(targets).toEqual(Array.from({ length: 1000 }, (_, at) => `/${at}`))
  expect(endings).toEqual({ whole: 1 })
  expect(await targetsOf("another secret of a record")).toEqual({ targets: [], endings: { foreign: 1 } })
  const [file = ""] = segments()
  expect(readFileSync(file, "latin1")).not.toContain("api.example")
  expect(statSync(file).mode & 0o077).toBe(0)
})

test("a last frame that was torn by a crash loses only its own requests", async () => {
  const { writer, write, counts } = writerOf()
  write("/first")
  await expect.poll(() => counts.recorded).toBe(1)
  write("/second")
  await writer.close()
  const [file = ""] = segments()
  truncateSync(file, statSync(file).size - 1)
  expect(await targetsOf()).toEqual({ targets: ["/first"], endings: { torn: 1 } })
  // A process that ended before the head was written.
  writeFileSync(join(folder, "000000000000001-1-x.traffic"), "")
  expect((await targetsOf()).endings).toEqual({ torn: 2 })
})

test("frames cannot be altered, exchanged or left out", async () => {
  const { writer, write, counts } = writerOf()
  for (const target of ["/first", "/second", "/third"]) {
    const before = counts.recorded
    write(target)
    await expect.poll(() => counts.recorded).toBe(before + 1)
  }
  await writer.close()
  const [file = ""] = segments()
  const content = readFileSync(file)
  const head = content.indexOf("\n") + 1
  const second = head + 4 + content.readUInt32BE(head)
  const third = second + 4 + content.readUInt32BE(second)
  const altered = Buffer.from(content)
  altered[third - 20] = (altered[third - 20] as number) ^ 1
  writeFileSync(file, altered)
  expect(await targetsOf()).toEqual({ targets: ["/first"], endings: { damaged: 1 } })
  writeFileSync(file, Buffer.concat([content.subarray(0, second), content.subarray(third)]))
  expect(await targetsOf()).toEqual({ targets: ["/first"], endings: { damaged: 1 } })
  writeFileSync(file, "not a segment\n")
  expect((await targetsOf()).endings).toEqual({ unknown: 1 })
})

test("the oldest segments are deleted, also those of other processes", async () => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "000000000000001-1-other.traffic"), Buffer.alloc(2 ** 19))
  const { writer, counts } = writerOf(2 ** 20)
  const long = "x".repeat(10_000)
  for (let at = 0; at < 400; at += 1) {
    writer.write(lineOf(requestOf(`/${at}`, long), []))
    if (at % 20 === 19) await expect.poll(() => counts.recorded).toBe(at + 1)
  }
  await writer.close()
  const size = segments().reduce((sum, file) => sum + statSync(file).size, 0)
  expect(size).toBeLessThanOrEqual(2 ** 20)
  expect(size).toBeGreaterThan(2 ** 19)
  expect(segments().some((file) => file.includes("other"))).toBe(false)
  const { targets } = await targetsOf()
  expect(targets.at(-1)).toBe("/399")
  expect(targets).not.toContain("/0")
})

test("a folder that cannot be written drops requests, and is used again later", async () => {
  mkdirSync(join(folder, ".."), { recursive: true })
  writeFileSync(folder, "a file")
  const changes: (string | undefined)[] = []
  const { writer, write, counts } = writerOf(2 ** 20, (reason) => changes.push(reason))
  write("/first")
  await expect.poll(() => counts.dropped["write-failed"]).toBe(1)
  rmSync(folder)
  write("/second")
  await expect.poll(() => counts.recorded).toBe(1)
  await writer.close()
  expect(changes).toEqual(["EEXIST", undefined])
  expect((await targetsOf()).targets).toEqual(["/second"])
})

test("a disk that is too slow drops requests instead of keeping them in memory", () => {
  const { writer, counts } = writerOf()
  const line = lineOf(requestOf("/", "x".repeat(100_000)), [])
  for (let at = 0; at < 200; at += 1) writer.write(line)
  expect(counts.dropped["queue-full"]).toBeGreaterThan(100)
  return writer.close()
})

test("texts that are hidden are in no value, and a line stays readable", () => {
  const request = requestOf('/a?x=sec"ret-value', "tsec\\ret")
  const line = lineOf(request, ['sec"ret-value', "headers", "short", "sec\\ret"])
  const read = JSON.parse(line) as RecordedRequest
  expect(read.target).toBe("/a?x=left-out")
  expect(read.headers).toEqual([["user-agent", "tleft-out"]])
})
