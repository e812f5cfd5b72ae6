import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { batchCheck } from "../../runtime/check/batch-check.ts"
import { Engine, type EngineOptions } from "../../runtime/check/engine.ts"
import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import { type CheckAnswer, CheckError, type CheckRequest } from "../../runtime/check/ports.ts"
import { commit, MemorySource } from "./memory-source.ts"
import { modelOf, tupleOf } from "./model.ts"

const model = modelOf(`
type user
type group
  relations
    define member: [user, group#member]
type doc
  relations
    define owner: [user]
    define blocked: [user]
    define viewer: ([user, user:*, group#member] or owner) but not blocked
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

const request = (text: string, more: Partial<CheckRequest> = {}): CheckRequest => {
  const { user, relation, object } = tupleOf(text)
  return { user, relation, object, ...more }
}

async function failure(work: () => CheckAnswer | Promise<CheckAnswer>): Promise<CheckError> {
  try {
    await work()
  } catch (error) {
    if (error instanceof CheckError) return error
    throw error
  }
  throw new Error("it did not fail")
}

const ask = (engine: Engine, text: string, more?: Partial<CheckRequest>, asked: LoadedModel = model) =>
  engine.check("store", asked, request(text, more))

describe("a store's graph", () => {
  test("is loaded at the first question, and then answers without a promise", async () => {
    const source = new MemorySource()
    source.write(tupleOf("doc:1 viewer user:ann"))
    const engine = engineOver(source)
    const first = ask(engine, "doc:1 viewer user:ann")
    expect(first).toBeInstanceOf(Promise)
    expect(await first).toMatchObject({ allowed: true, revision: 1 })
    expect(ask(engine, "doc:1 viewer user:ann")).toMatchObject({ allowed: true, revision: 1 })
    expect(ask(engine, "doc:1 viewer user:bob")).toMatchObject({ allowed: false, revision: 1 })
    expect(source.asked.load).toBe(1)
  })

  test("is loaded once for questions that come together", async () => {
    const source = new MemorySource()
    const engine = engineOver(source)
    await Promise.all(Array.from({ length: 20 }, () => ask(engine, "doc:1 viewer user:ann")))
    expect(source.asked.load).toBe(1)
  })

  test("takes own writes at once, in any order of their coming", async () => {
    const source = new MemorySource()
    const engine = engineOver(source)
    await engine.warm("store")
    const first = source.write(tupleOf("doc:1 owner user:ann"))
    const second = source.write(tupleOf("doc:2 owner user:ann"))
    engine.applied("store", second)
    // The first revision is missing: the question waits until the feed has brought it.
    expect(await ask(engine, "doc:1 viewer user:ann")).toMatchObject({ allowed: true, revision: 2 })
    engine.applied("store", first)
    engine.applied("store", second)
    engine.applied("store", source.delete(tupleOf("doc:2 owner user:ann")))
    expect(ask(engine, "doc:2 viewer user:ann")).toMatchObject({ allowed: false, revision: 3 })
  })

  test("replaces a tuple's condition when it is written anew", async () => {
    const conditional = modelOf(`
type user
type doc
  relations
    define viewer: [user, user with never, user with small]
condition never(x: int) {
  x < 0 && x > 0
}
condition small(x: int) {
  x < 10
}`)
    const source = new MemorySource()
    const engine = engineOver(source)
    await engine.warm("store")
    const context = { x: 5 }
    const results: boolean[] = []
    for (const text of [
      "doc:1 viewer user:ann if never",
      "doc:1 viewer user:ann if small",
      'doc:1 viewer user:ann if small {"x":50}',
      "doc:1 viewer user:ann",
      "doc:1 viewer user:ann if never",
    ]) {
      // No delete before it: the key is the same.
      engine.applied("store", source.write(tupleOf(text)))
      const answer = await ask(engine, "doc:1 viewer user:ann", { context }, conditional)
      results.push(answer.allowed)
    }
    expect(results).toEqual([false, true, false, true, false])
  })

  test("follows other processes' writes by polling", async () => {
    const source = new MemorySource()
    const engine = engineOver(source, { pollMs: 5 })
    await engine.warm("store")
    source.write(tupleOf("doc:1 owner user:ann"))
    await expect
      .poll(() => ask(engine, "doc:1 viewer user:ann"))
      .toMatchObject({ allowed: true, revision: 1 })
  })

  test("asks the source first for higher consistency", async () => {
    const source = new MemorySource()
    const engine = engineOver(source)
    await engine.warm("store")
    source.write(tupleOf("doc:1 owner user:ann"))
    expect(ask(engine, "doc:1 viewer user:ann")).toMatchObject({ allowed: false, revision: 0 })
    const answer = await ask(engine, "doc:1 viewer user:ann", { consistency: "higher-consistency" })
    expect(answer).toMatchObject({ allowed: true, revision: 1 })
  })

  test("is brought up to the revision a question asks for, if there is one", async () => {
    const source = new MemorySource()
    const engine = engineOver(source)
    await engine.warm("store")
    source.write(tupleOf("doc:1 owner user:ann"))
    expect(await ask(engine, "doc:1 viewer user:ann", { atLeast: commit(1) })).toMatchObject({
      allowed: true,
      revision: 1,
    })
    expect(ask(engine, "doc:1 viewer user:ann", { atLeast: commit(1) })).toMatchObject({
      allowed: true,
      revision: 1,
    })
    const error = await failure(() => ask(engine, "doc:1 viewer user:ann", { atLeast: commit(7) }))
    expect([error.code, error.message]).toEqual([
      "history_lost",
      expect.stringMatching(/^the store's history does not have the commit this token names \(revision 7\)/),
    ])
    const other = await failure(() =>
      ask(engine, "doc:1 viewer user:ann", { atLeast: { revision: 1, stamp: "x" } }),
    )
    expect(other.code).toBe("history_lost")
    expect(ask(engine, "doc:1 viewer user:ann")).toMatchObject({ allowed: true, revision: 1 })
  })

  test("is loaded anew when the feed does not reach back far enough", async () => {
    const source = new MemorySource()
    const engine = engineOver(source)
    await engine.warm("store")
    for (let at = 0; at < 5; at++) source.write(tupleOf(`doc:${at} owner user:ann`))
    source.feed.splice(0, 3)
    const answer = await ask(engine, "doc:0 viewer user:ann", { consistency: "higher-consistency" })
    expect(answer).toMatchObject({ allowed: true, revision: 5 })
    expect(source.asked.load).toBe(2)
  })

  test("is loaded anew when the source went back behind it", async () => {
    const source = new MemorySource()
    const backup = new MemorySource()
    for (const each of [source, backup]) each.write(tupleOf("doc:1 viewer user:ann"))
    source.write(tupleOf("doc:1 viewer user:bob"))
    const engine = engineOver(source)
    expect(await ask(engine, "doc:1 viewer user:bob")).toMatchObject({ allowed: true, revision: 2 })
    source.restore(backup)
    const answer = await ask(engine, "doc:1 viewer user:bob", { consistency: "higher-consistency" })
    expect(answer).toMatchObject({ allowed: false, revision: 1 })
    engine.applied("store", source.write(tupleOf("doc:1 viewer user:eve")))
    expect(await ask(engine, "doc:1 viewer user:eve")).toMatchObject({ allowed: true, revision: 2 })
    expect(await ask(engine, "doc:1 viewer user:bob")).toMatchObject({ allowed: false, revision: 2 })
  })

  test("is forgotten when the store is deleted, or others were used since", async () => {
    const source = new MemorySource()
    const engine = engineOver(source, { storesMax: 2 })
    await engine.warm("a")
    await engine.warm("b")
    await engine.warm("c")
    // Nobody was asked since it came: the first goes.
    expect([engine.revision("a"), engine.revision("b"), engine.revision("c")]).toEqual([undefined, 0, 0])
    expect(engine.check("b", model, request("doc:1 viewer user:ann"))).toMatchObject({ allowed: false })
    await engine.warm("d")
    expect([engine.revision("b"), engine.revision("c"), engine.revision("d")]).toEqual([0, undefined, 0])
    engine.dropped("b")
    expect(engine.revision("b")).toBeUndefined()
  })

  test("serves several models", async () => {
    const other = modelOf(
      "type user\ntype doc\n  relations\n    define owner: [user]\n    define viewer: owner",
    )
    const source = new MemorySource()
    source.write(tupleOf("doc:1 viewer user:ann"), tupleOf("doc:1 owner user:bob"))
    const engine = engineOver(source)
    await engine.warm("store")
    // Under the other model nobody is made a viewer directly.
    expect(ask(engine, "doc:1 viewer user:ann")).toMatchObject({ allowed: true, revision: 1 })
    expect(ask(engine, "doc:1 viewer user:ann", {}, other)).toMatchObject({ allowed: false, revision: 1 })
    expect(ask(engine, "doc:1 viewer user:bob", {}, other)).toMatchObject({ allowed: true, revision: 1 })
  })
})

describe("a source that is away", () => {
  test("makes a cold store unavailable, and the store recovers with it", async () => {
    const source = new MemorySource()
    source.write(tupleOf("doc:1 owner user:ann"))
    source.failing = true
    const engine = engineOver(source)
    expect((await failure(() => ask(engine, "doc:1 viewer user:ann"))).code).toBe("unavailable")
    source.failing = false
    expect(await ask(engine, "doc:1 viewer user:ann")).toMatchObject({ allowed: true, revision: 1 })
  })

  test("leaves a warm store answering until it is too stale", async () => {
    let now = 1_000
    const source = new MemorySource()
    source.write(tupleOf("doc:1 owner user:ann"))
    const engine = engineOver(source, { maxStalenessMs: 10_000, now: () => now })
    await engine.warm("store")
    source.failing = true
    now += 10_000
    expect(ask(engine, "doc:1 viewer user:ann")).toMatchObject({ allowed: true, revision: 1 })
    now += 1
    expect((await failure(() => ask(engine, "doc:1 viewer user:ann"))).code).toBe("unavailable")
    const higher = { consistency: "higher-consistency" } as const
    expect((await failure(() => ask(engine, "doc:1 viewer user:ann", higher))).code).toBe("unavailable")
    source.failing = false
    expect((await ask(engine, "doc:1 viewer user:ann", higher)).allowed).toBe(true)
    expect(ask(engine, "doc:1 viewer user:ann")).toMatchObject({ allowed: true, revision: 1 })
  })
})

describe("a long question", () => {
  /** doc:1 is seen through a ladder of groups too large for one turn under a clock that runs fast. */
  function ladder(rungs = 3_000): MemorySource {
    const source = new MemorySource()
    const tuples = [tupleOf("doc:1 viewer group:0#member")]
    for (let at = 0; at < rungs; at++) tuples.push(tupleOf(`group:${at} member group:${at + 1}#member`))
    source.write(...tuples)
    return source
  }

  const slowly = (): EngineOptions => {
    let now = 0
    return { now: () => (now += 4), depthMax: Number.POSITIVE_INFINITY, walkSteps: 1e9, deadlineMs: 1e9 }
  }

  test("is suspended and lets others run", async () => {
    const engine = engineOver(ladder(), slowly())
    await engine.warm("store")
    let turns = 0
    const counter = setInterval(() => turns++, 0)
    const long = ask(engine, "doc:1 viewer user:ann")
    expect(long).toBeInstanceOf(Promise)
    expect(ask(engine, "group:2999 member user:ann")).toMatchObject({ allowed: false })
    expect(await long).toMatchObject({ allowed: false, revision: 1 })
    clearInterval(counter)
    expect(turns).toBeGreaterThan(0)
  })

  test("goes on at its own revision while changes are made", async () => {
    const source = ladder(30_000)
    const engine = engineOver(source, { ...slowly(), stepsPerLook: 1 })
    await engine.warm("store")
    const long = ask(engine, "doc:1 viewer user:ann")
    engine.applied("store", source.write(tupleOf("group:30000 member user:ann")))
    const own = ask(engine, "group:30000 member user:ann")
    expect(await own).toMatchObject({ allowed: true, revision: 2 })
    expect(await long).toMatchObject({ allowed: false, revision: 1 })
  })

  test("ends with an error at its deadline", async () => {
    const engine = engineOver(ladder(), { ...slowly(), deadlineMs: 20, stepsPerLook: 16 })
    await engine.warm("store")
    expect((await failure(() => ask(engine, "doc:1 viewer user:ann"))).code).toBe("deadline_exceeded")
    expect(ask(engine, "group:2999 member user:ann")).toMatchObject({ allowed: false })
  })

  describe("that is to be explained is answered before its deadline, without the reasons that are not found by then", () => {
    const deadlineMs = 400
    const why = { user: "user:ann", relation: "viewer", object: "doc:1", explain: true }
    let now = 0
    let engine: Engine
    beforeEach(async () => {
      now = 0
      engine = engineOver(ladder(), { ...slowly(), walkSteps: 256, deadlineMs, now: () => (now += 4) })
      await engine.warm("store")
    })

    test("alone", async () => {
      now = 0
      const { allowed, explanation } = await engine.check("store", model, why)
      expect(now).toBeLessThan(deadlineMs)
      expect([allowed, explanation?.allowed, explanation?.complete]).toEqual([false, false, false])
    })

    test("in a batch, where one that is not reached is an error of its own", async () => {
      const direct = { user: "user:ann", relation: "viewer", object: "doc:2" }
      const items = [why, direct, { ...why, object: "doc:3" }]
      now = 0
      const { results } = await engine.ask("store", batchCheck(model, items, engine.bounds))
      expect(now).toBeLessThan(deadlineMs)
      expect(results).toMatchObject([
        { allowed: false, explanation: { complete: false } },
        { allowed: false },
        { code: "deadline_exceeded" },
      ])
    })
  })
})

test("of many long questions at once the largest fails, the others end", async () => {
  const source = new MemorySource()
  const tuples = Array.from({ length: 2_000 }, (_, at) =>
    tupleOf(`group:${at} member group:${at + 1}#member`),
  )
  source.write(...tuples, tupleOf("doc:1 viewer group:0#member"), tupleOf("doc:2 viewer group:1500#member"))
  let now = 0
  const engine = engineOver(source, {
    now: () => (now += 4),
    depthMax: Number.POSITIVE_INFINITY,
    walkSteps: 1e9,
    deadlineMs: 1e9,
    stepsTogetherMax: 9_000,
  })
  await engine.warm("store")
  const asked = ["doc:1 viewer user:ann", "doc:2 viewer user:ann", "doc:2 viewer user:bob"].map((text) =>
    ask(engine, text),
  )
  const ended = await Promise.allSettled(asked)
  expect(ended.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"])
  expect(ended[0]).toMatchObject({ reason: { code: "resource_exhausted" } })
})

describe("a graph of pages", () => {
  test("loads all misses of a round in one statement, and absence too", async () => {
    const source = new MemorySource()
    source.write(
      tupleOf("doc:1 viewer group:a#member"),
      tupleOf("doc:1 viewer group:b#member"),
      tupleOf("group:b member user:ann"),
    )
    const engine = engineOver(source, { paged: true })
    expect(await ask(engine, "doc:1 viewer user:ann")).toMatchObject({ allowed: true, revision: 1 })
    const { pages } = source.asked
    expect(pages).toBeLessThanOrEqual(3)
    expect(ask(engine, "doc:1 viewer user:ann")).toMatchObject({ allowed: true, revision: 1 })
    await ask(engine, "doc:9 viewer user:ann")
    const after = source.asked.pages
    expect(ask(engine, "doc:9 viewer user:ann")).toMatchObject({ allowed: false, revision: 1 })
    expect(source.asked.pages).toBe(after)
  })

  test("takes own writes into loaded pages only", async () => {
    const source = new MemorySource()
    const engine = engineOver(source, { paged: true })
    expect((await ask(engine, "doc:1 viewer user:ann")).allowed).toBe(false)
    engine.applied("store", source.write(tupleOf("doc:1 owner user:ann"), tupleOf("doc:2 owner user:ann")))
    expect(ask(engine, "doc:1 viewer user:ann")).toMatchObject({ allowed: true, revision: 1 })
    expect(await ask(engine, "doc:2 viewer user:ann")).toMatchObject({ allowed: true, revision: 1 })
  })

  test("fails with a typed error when one question needs more than fits", async () => {
    const source = new MemorySource()
    source.write(...Array.from({ length: 50 }, (_, at) => tupleOf(`doc:1 viewer group:${at}#member`)))
    const engine = engineOver(source, { paged: true, memoryBytes: 8_000 })
    expect((await failure(() => ask(engine, "doc:1 viewer user:ann"))).code).toBe("resource_exhausted")
    expect((await ask(engine, "doc:2 viewer user:ann")).allowed).toBe(false)
  })
})
