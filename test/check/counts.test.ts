import { afterEach, expect, test } from "vitest"
import { QuestionWork, StoreCounts } from "../../runtime/check/counts.ts"
import { Engine, type EngineOptions } from "../../runtime/check/engine.ts"
import { listObjects } from "../../runtime/check/list-objects.ts"
import { Random } from "../naive/random.ts"
import { MemorySource } from "./memory-source.ts"
import { modelOf, tupleOf } from "./model.ts"

const model = modelOf(`
type user
type group
  relations
    define member: [user, group#member]
type doc
  relations
    define viewer: [user, group#member, user with small]
condition small(x: int) {
  10 / x > 2
}
`)

const engines: Engine[] = []
afterEach(() => {
  for (const engine of engines.splice(0)) engine.close()
})

function engineOver(source: MemorySource, options: EngineOptions = {}): Engine {
  const engine = new Engine(source, { pollMs: 0, ...options })
  engines.push(engine)
  return engine
}

const of = (engine: Engine, store = "s"): StoreCounts => engine.counts.get(store) ?? new StoreCounts()
const ann = { user: "user:ann", relation: "viewer", object: "doc:1" }

test("questions and their steps are counted for each store, and for the caller that wants them", async () => {
  const source = new MemorySource()
  source.write(tupleOf("doc:1 viewer group:a#member"), tupleOf("group:a member user:ann"))
  const engine = engineOver(source)
  // A question before the store is loaded may read pages.
  await engine.warm("s")
  await engine.check("s", model, ann)
  const first = of(engine).steps
  expect(of(engine)).toMatchObject({ questions: 1, pagesUsed: 0, pagesRead: 0 })
  expect(first).toBeGreaterThan(1)
  const work = new QuestionWork()
  expect(engine.check("s", model, ann, work)).not.toBeInstanceOf(Promise)
  expect(work).toMatchObject({ steps: first, pagesRead: 0, pagesUsed: 0 })
  expect(of(engine)).toMatchObject({ questions: 2, steps: 2 * first })
  await engine.ask("s", listObjects(model, { ...ann, type: "doc" }, engine.bounds), {}, work)
  expect(work.steps).toBeGreaterThan(first)
  expect(of(engine)).toMatchObject({ questions: 3, steps: first + work.steps })
  await engine.check("other", model, ann)
  expect(of(engine, "other").questions).toBe(1)
  expect(of(engine).questions).toBe(3)
})

test("a question that does not fit the model is counted without steps, one beyond the limit with them", async () => {
  const source = new MemorySource()
  const links = Array.from({ length: 60 }, (_, at) => tupleOf(`group:g${at} member group:g${at + 1}#member`))
  source.write(tupleOf("doc:1 viewer group:g0#member"), ...links)
  const engine = engineOver(source, { stepsMax: 20, depthMax: 1_000, stepsPerLook: 4 })
  await engine.warm("s")
  expect(() => engine.check("s", model, { ...ann, relation: "nowhere" })).toThrow("nowhere")
  expect(of(engine)).toMatchObject({ questions: 1, steps: 0 })
  const work = new QuestionWork()
  // On a busy machine it takes more than one turn.
  await expect(async () => await engine.check("s", model, ann, work)).rejects.toThrow("steps")
  expect(work.steps).toBeGreaterThan(20)
  expect(of(engine)).toMatchObject({ questions: 2, steps: work.steps })
})

test("pages that were read, and those that were in memory", async () => {
  const source = new MemorySource()
  source.write(tupleOf("doc:1 viewer group:a#member"), tupleOf("group:a member user:ann"))
  const engine = engineOver(source, { paged: true })
  const work = new QuestionWork()
  expect(await engine.check("s", model, ann, work)).toMatchObject({ allowed: true })
  const { pagesRead, pagesUsed, suspended, steps } = of(engine)
  expect(pagesRead).toBe(source.asked.keys)
  expect(work).toMatchObject({ steps, pagesRead, pagesUsed })
  expect(pagesUsed).toBeGreaterThanOrEqual(pagesRead)
  expect(suspended).toBe(1)
  await engine.check("s", model, ann)
  expect(of(engine)).toMatchObject({ pagesRead, suspended: 1 })
  expect(of(engine).pagesUsed).toBeGreaterThan(pagesUsed)
})

test("conditions without a result, by their reason, wherever they are met", async () => {
  const source = new MemorySource()
  source.write(tupleOf("doc:1 viewer user:ann if small"), tupleOf("doc:2 viewer user:ann if small"))
  const engine = engineOver(source)
  await engine.warm("s")
  expect(() => engine.check("s", model, ann)).toThrow("missing context")
  expect(of(engine)).toMatchObject({ conditionsMissing: 1, conditionsFailed: 0 })
  expect(() => engine.check("s", model, { ...ann, context: { x: 0 } })).toThrow("zero")
  expect(of(engine)).toMatchObject({ conditionsMissing: 1, conditionsFailed: 1 })
  await engine.check("s", model, { ...ann, context: { x: 1 } })
  expect(of(engine)).toMatchObject({ conditionsMissing: 1, conditionsFailed: 1 })
  const list = listObjects(model, { ...ann, type: "doc", context: { x: 0 } }, engine.bounds)
  await expect((async () => engine.ask("s", list))()).rejects.toThrow()
  expect(of(engine).conditionsFailed).toBeGreaterThan(1)
})

test("counts stay when a store leaves memory, and beyond a bound those of such stores are added together", async () => {
  const source = new MemorySource()
  source.write(tupleOf("doc:1 viewer user:ann"))
  const engine = engineOver(source, { storesMax: 2 })
  for (let store = 0; store < 50; store++) await engine.check(`s${store}`, model, ann)
  expect(engine.stores).toHaveLength(2)
  expect(engine.counts.size).toBeLessThanOrEqual(20)
  const total = [...engine.counts.values()].reduce((sum, { questions }) => sum + questions, 0)
  expect(total).toBe(50)
  engine.dropped("s49")
  await engine.check("s49", model, ann)
  expect(of(engine, "s49").questions).toBe(2)
})

test("the state of each store: where its tuples are, how many, and how old they may be", async () => {
  const source = new MemorySource()
  source.write(tupleOf("doc:1 viewer user:ann"))
  let now = 0
  const engine = engineOver(source, { now: () => now })
  await engine.warm("s")
  await engine.check("s", model, ann)
  now = 1_500
  expect(engine.stores).toMatchObject([
    { storeId: "s", form: "whole", revision: 1, behind: 0, staleMs: 1_500, tuples: 1 },
  ])
  expect(engine.stores[0]?.bytes).toBeGreaterThan(0)
  source.failing = true
  const written = source.feed.length
  source.write(tupleOf("doc:2 viewer user:ann"), tupleOf("doc:3 viewer user:ann"))
  source.write(tupleOf("doc:4 viewer user:ann"))
  // A write of this process that follows one it has not read yet.
  engine.applied("s", source.feed.slice(written + 2))
  expect(engine.stores).toMatchObject([{ revision: 1, behind: 2, tuples: 1 }])
  source.failing = false
  await engine.check("s", model, ann)
  expect(engine.stores).toMatchObject([{ revision: 3, behind: 0, tuples: 4 }])
})

test("the number of tuples is right after random writes and deletions, of short lists and long ones", async () => {
  const random = new Random(11)
  const source = new MemorySource()
  const written = Array.from({ length: 18_000 }, (_, at) => tupleOf(`doc:0 viewer user:u${at}`))
  source.write(
    ...written,
    ...Array.from({ length: 900 }, (_, at) => tupleOf(`doc:${at} viewer group:g${at % 7}#member`)),
  )
  const engine = engineOver(source)
  await engine.warm("s")
  expect(engine.stores[0]?.tuples).toBe(18_900)
  for (let round = 0; round < 200; round++) {
    const tuple = tupleOf(
      `doc:${random.chance(50) ? 0 : random.below(900)} viewer user:u${random.below(30_000)}`,
    )
    const changes = random.chance(50) ? source.delete(tuple) : source.write(tuple)
    engine.applied("s", changes)
  }
  await engine.check("s", model, ann)
  expect(engine.stores[0]?.tuples).toBe(source.rows.size)
})
