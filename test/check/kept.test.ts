import { expect, test } from "vitest"
import { Engine, type EngineOptions } from "../../runtime/check/engine.ts"
import { streamObjects } from "../../runtime/check/list-objects.ts"
import { listUsers, packedUsers } from "../../runtime/check/list-users.ts"
import { namesOf, PackedJson, plainForm } from "../../runtime/check/lists/packed-json.ts"
import type { ListObjectsRequest } from "../../runtime/check/questions.ts"
import { Random } from "../naive/random.ts"
import { commit, MemorySource } from "./memory-source.ts"
import { modelOf, tupleOf } from "./model.ts"

const model = modelOf(`
type user
type group
  relations
    define member: [user, group#member]
type doc
  relations
    define blocked: [user]
    define viewer: [user, group#member]
    define reader: viewer but not blocked
`)

const docs = 3_000

async function engineWith(options: EngineOptions = {}): Promise<{ engine: Engine; source: MemorySource }> {
  const source = new MemorySource()
  const random = new Random(3)
  const numbers = Array.from({ length: docs }, (_, at) => at).sort(() => random.below(3) - 1)
  for (const at of numbers) source.write(tupleOf(`doc:${at} viewer user:ann`))
  for (let at = 0; at < docs; at += 3) source.write(tupleOf(`doc:${at} blocked user:ann`))
  for (const at of numbers) source.write(tupleOf(`group:all member user:${at}`))
  const engine = new Engine(source, { pollMs: 0, deadlineMs: 1e9, ...options })
  await engine.warm("store")
  return { engine, source }
}

const question: ListObjectsRequest = { user: "user:ann", relation: "reader", type: "doc" }
const members = { object: "group:all", relation: "member", filter: { type: "user" } }
const bytewise = (names: string[]) =>
  names.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
const readable = bytewise(
  Array.from({ length: docs }, (_, at) => at)
    .filter((at) => at % 3 > 0)
    .map((at) => `doc:${at}`),
)

async function objects(engine: Engine, request: Partial<ListObjectsRequest> = {}, exactly?: number) {
  const work = streamObjects(model, { ...question, ...request }, engine.bounds)
  const answer = await engine.ask("store", work, {
    exactly: exactly === undefined ? undefined : commit(exactly),
  })
  return { ...answer, names: [...answer.batches()].flat() }
}

test("an answer is kept for the same question at the same revision, and for no other", async () => {
  const { engine, source } = await engineWith()
  const first = await objects(engine)
  const { memoryBytes } = engine
  expect(bytewise(first.names)).toEqual(readable)
  expect(engine.keptHits).toBe(0)
  const second = await objects(engine)
  expect(second.json).toBe(first.json)
  expect(engine.keptHits).toBe(1)
  expect(engine.memoryBytes).toBe(memoryBytes)
  // Other questions: another user, relation or model, and what brings tuples or values.
  const tuple = { user: "user:ann", relation: "blocked", object: "doc:1" }
  const given = await objects(engine, { contextualTuples: [tuple] })
  expect(given.names).toHaveLength(first.names.length - 1)
  expect((await objects(engine, { user: "user:bob" })).names).toEqual([])
  expect((await objects(engine, { relation: "viewer" })).names).toHaveLength(docs)
  await objects(engine, { context: { x: 1 } })
  expect(engine.keptHits).toBe(1)
  expect((await objects(engine, { context: {}, contextualTuples: [] })).json).toBe(first.json)
  engine.applied("store", source.write(tuple))
  expect((await objects(engine)).names).toEqual(given.names)
  engine.applied("store", source.delete(tuple))
  expect(bytewise((await objects(engine)).names)).toEqual(readable)
  expect(engine.keptHits).toBe(2)
  engine.close()
})

test("higher consistency learns the newest revision before anything kept is looked at", async () => {
  const { engine, source } = await engineWith()
  await objects(engine)
  // Another process writes, and nobody says so.
  source.write(tupleOf("doc:1 blocked user:ann"))
  expect((await objects(engine)).names).toContain("doc:1")
  const work = streamObjects(model, question, engine.bounds)
  const newest = await engine.ask("store", work, { consistency: "higher-consistency" })
  expect([...newest.batches()].flat()).not.toContain("doc:1")
  engine.close()
})

test("what was kept of a history that never was is not found again", async () => {
  const { engine, source } = await engineWith()
  const earlier = new MemorySource()
  earlier.restore(source)
  engine.applied("store", source.write(tupleOf("doc:1 blocked user:ann")))
  const { revision } = await objects(engine)
  // A backup is restored, and others write until it is where it was.
  source.restore(earlier)
  await engine.ask("store", streamObjects(model, question, engine.bounds), {
    consistency: "higher-consistency",
  })
  engine.applied("store", source.write(tupleOf("doc:2 blocked user:ann")))
  const now = await objects(engine)
  expect(now.revision).toBe(revision)
  expect(now.names).toContain("doc:1")
  expect(now.names).not.toContain("doc:2")
  engine.close()
})

test("pages of one list share a walk, also those asked for at once", async () => {
  // Every look at the clock ends the turn.
  let clock = 0
  const { engine } = await engineWith({ stepsPerLook: 64, now: () => (clock += 10) })
  const users = { ...members, pageSize: 7 }
  const asked = Array.from({ length: 12 }, async () => [
    await objects(engine, { pageSize: 5 }),
    await engine.ask("store", listUsers(model, users, engine.bounds)),
  ])
  for (const [page] of await Promise.all(asked)) expect(page).toMatchObject({ names: readable.slice(0, 5) })
  expect(engine.keptHits).toBe(22)
  const { revision } = await objects(engine, { pageSize: 1 })
  for (const at of [readable.length - 4, 700, 0, 1_500, 1_999]) {
    const { names } = await objects(engine, { pageSize: 5, after: readable[at] }, revision)
    expect(names).toEqual(readable.slice(at + 1, at + 6))
  }
  expect(engine.keptHits).toBe(28)
  engine.close()
})

test("a client that gives up while others wait for its walk does not keep them waiting", async () => {
  let clock = 0
  const { engine } = await engineWith({ stepsPerLook: 64, now: () => (clock += 10) })
  const gone = streamObjects(model, { ...question, pageSize: 5, deadlineMs: 50 }, engine.bounds)
  const [first, ...others] = await Promise.allSettled([
    engine.ask("store", gone),
    objects(engine, { pageSize: 5 }),
    objects(engine, { pageSize: 5 }),
  ])
  expect(first).toMatchObject({ status: "rejected", reason: { code: "deadline_exceeded" } })
  for (const other of others) expect(other).toMatchObject({ value: { names: readable.slice(0, 5) } })
  engine.close()
})

test("what is kept takes an eighth of the memory at most, and is the first to go", async () => {
  const { engine, source } = await engineWith()
  const alone = engine.memoryBytes
  const bounds = { depthMax: 25, deadlineMs: 1e9 }
  engine.bound({ ...bounds, memoryBytes: 3 * alone })
  for (let at = 0; at < 200; at++) {
    const user = `user:${at}`
    engine.applied("store", source.write(tupleOf(`doc:own${at} viewer ${user}`)))
    await objects(engine, { user })
    await objects(engine)
  }
  expect(engine.memoryBytes).toBeGreaterThan(alone)
  expect(engine.memoryBytes).toBeLessThan(1.6 * alone)
  const loads = source.asked.load
  engine.bound({ ...bounds, memoryBytes: 1.2 * alone })
  await objects(engine)
  expect(engine.memoryBytes).toBeLessThanOrEqual(1.2 * alone)
  // The store itself is still whole.
  expect(source.asked.load).toBe(loads)
  expect(source.asked.pages).toBe(0)
  engine.close()
})

test("names are JSON as JSON.stringify makes it, in chunks of whole items", () => {
  const utf8 = new TextEncoder()
  const names = [
    'doc:"',
    "doc:\\",
    "doc:\u0001\u007f",
    "doc:ü🙂",
    "\uFEFFdoc:b",
    "doc:plain",
    `doc:${'"'.repeat(40_000)}`,
  ]
  for (let at = 0; at < 9_000; at++) names.push(`doc:${at}`)
  const packed = new PackedJson(plainForm)
  const lines = new PackedJson({ before: '{"id":"', behind: '"}', skip: 4, wildcard: '{"all":true}' })
  const add = (list: PackedJson, name: string, suffix: string) => {
    const bytes = utf8.encode(name)
    list.add({ bytes, start: 0, end: bytes.length }, utf8.encode(suffix))
  }
  for (const name of names) add(packed, name, "#member")
  expect([...namesOf(packed.chunks())].flat()).toEqual(names.map((name) => `${name}#member`))
  expect(packed.chunks().length).toBeGreaterThan(2)
  const text = Buffer.concat(packed.chunks().flatMap((chunk) => [chunk, Buffer.from(",")])).toString()
  expect(text.slice(0, -1)).toBe(JSON.stringify(names.map((name) => `${name}#member`)).slice(1, -1))
  for (const name of ["doc:a", "doc:*", "doc:b*"]) add(lines, name, "")
  expect(Buffer.concat(lines.chunks()).toString()).toBe('{"id":"a"},{"all":true},{"id":"b*"}')
  expect(new PackedJson(plainForm).chunks()).toEqual([])
})

test("users are kept like objects", async () => {
  const { engine } = await engineWith()
  const ask = () => engine.ask("store", packedUsers(model, members, engine.bounds, plainForm))
  const [first, second] = [await ask(), await ask()]
  expect(second).toBe(first)
  expect([...namesOf(first.users)].flat()).toHaveLength(docs)
  engine.close()
})
