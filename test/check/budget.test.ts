import { afterEach, describe, expect, test } from "vitest"
import { Engine, type EngineOptions } from "../../runtime/check/engine.ts"
import { listObjects } from "../../runtime/check/list-objects.ts"
import { listUsers } from "../../runtime/check/list-users.ts"
import {
  type CheckAnswer,
  CheckError,
  type CheckRequest,
  type PageBatch,
  type PageKey,
} from "../../runtime/check/ports.ts"
import { Random } from "../naive/random.ts"
import { commit, MemorySource } from "./memory-source.ts"
import { modelOf, tupleOf } from "./model.ts"

const model = modelOf(`
type user
type group
  relations
    define member: [user, group#member]
type folder
  relations
    define parent: [folder]
    define viewer: [user, user:*, group#member] or viewer from parent
    define blocked: [user]
type doc
  relations
    define parent: [folder]
    define viewer: ([user, group#member, user with small] or viewer from parent) but not blocked
    define blocked: [user, group#member]
condition small(x: int) {
  x < 10
}
`)

const counts = { users: 4_000, groups: 2_000, folders: 1_000, docs: 9_000 }

/** Looks its pages up instead of going through all rows. */
class IndexedSource extends MemorySource {
  #index: Map<string, string[]> | undefined
  #revision = -1

  override async pages(storeId: string, keys: readonly PageKey[]): Promise<PageBatch> {
    await super.pages(storeId, [])
    if (this.#index === undefined || this.#revision !== this.latest.revision) this.#makeIndex()
    const pages = keys.map((key) => {
      const found = this.#index?.get(indexOf(key)) ?? []
      return found.map((identity) => this.rows.get(identity)).filter((row) => row !== undefined)
    })
    return { at: this.latest, pages }
  }

  #makeIndex(): void {
    this.#index = new Map()
    this.#revision = this.latest.revision
    for (const [identity, [object, relation, subject, subjectRelation]] of this.rows)
      for (const key of [`f ${object} ${relation}`, `r ${subject} ${subjectRelation}`])
        this.#index.set(key, [...(this.#index.get(key) ?? []), identity])
  }
}

const indexOf = (key: PageKey) =>
  key.direction === "forward" ? `f ${key.object} ${key.relation}` : `r ${key.subject} ${key.subjectRelation}`

function filled(random: Random): IndexedSource {
  const source = new IndexedSource()
  const tuples = new Set<string>()
  const user = () => `user:u${random.below(counts.users)}`
  for (let id = 0; id < counts.groups; id++) {
    for (let at = 0; at < 8; at++) tuples.add(`group:g${id} member ${user()}`)
    // Six at most above or below each other: what one question needs must fit.
    if (id % 6 > 0 && random.chance(60)) tuples.add(`group:g${id - 1} member group:g${id}#member`)
  }
  for (let id = 0; id < counts.folders; id++) {
    if (id > 0) tuples.add(`folder:f${id} parent folder:f${Math.floor(id / 6)}`)
    if (random.chance(30)) tuples.add(`folder:f${id} viewer group:g${random.below(counts.groups)}#member`)
    if (id > counts.folders / 2 && random.chance(4)) tuples.add(`folder:f${id} viewer user:*`)
  }
  for (let id = 0; id < counts.docs; id++) {
    tuples.add(`doc:d${id} parent folder:f${random.below(counts.folders)}`)
    for (let at = 0; at < 3; at++) tuples.add(`doc:d${id} viewer ${user()}`)
    tuples.add(`doc:d${id} viewer ${user()} if small {"x":${random.below(20)}}`)
    if (random.chance(30)) tuples.add(`doc:d${id} blocked group:g${random.below(counts.groups)}#member`)
  }
  const all = [...tuples].map(tupleOf)
  for (let at = 0; at < all.length; at += 10_000) source.write(...all.slice(at, at + 10_000))
  return source
}

const engines: Engine[] = []
afterEach(() => {
  for (const engine of engines.splice(0)) engine.close()
})

function engineOver(source: MemorySource, options: EngineOptions): Engine {
  const engine = new Engine(source, { pollMs: 0, deadlineMs: 300_000, ...options })
  engines.push(engine)
  return engine
}

async function outcome(ask: CheckAnswer | Promise<CheckAnswer>): Promise<string> {
  try {
    const { allowed, revision } = await ask
    return `${allowed} at ${revision}`
  } catch (error) {
    if (!(error instanceof CheckError)) throw error
    return error.code
  }
}

describe("a store larger than the memory", () => {
  // Searching from both ends needs the pages of both.
  for (const [walkSteps, part] of [
    [256, 100],
    [0, 25],
  ] as const)
    test(`gives the same answers from 1/${part} of it, giving pages up at every step (walking ${walkSteps} steps)`, async () => {
      const random = new Random(23)
      const source = filled(random)
      const whole = engineOver(source, {})
      await whole.warm("store")
      const memoryBytes = Math.floor(whole.memoryBytes / part)
      expect(memoryBytes).toBeGreaterThan(10_000)
      const small = engineOver(source, { memoryBytes, walkSteps })
      const rows = [...source.rows.values()]
      let allowed = 0
      for (let at = 0; at < 120; at++) {
        const [object = "", , user = ""] = random.pick(rows)
        const request: CheckRequest = {
          user: random.chance(50) && user.startsWith("user") ? user : `user:u${random.below(counts.users)}`,
          relation: "viewer",
          object: object.startsWith("group") ? "folder:f7" : object,
          context: { x: 5 },
        }
        const wanted = await outcome(whole.check("store", model, request))
        expect([request, await outcome(small.check("store", model, request))]).toEqual([request, wanted])
        expect(small.memoryBytes).toBeLessThanOrEqual(memoryBytes)
        if (wanted.startsWith("true")) allowed++
        if (at % 40 > 0) continue
        const doc = random.below(counts.docs)
        const changes = [
          ...source.write(tupleOf(`doc:d${doc} viewer user:u${random.below(counts.users)}`)),
          ...source.delete(tupleOf(`doc:d${doc} parent folder:f${random.below(counts.folders)}`)),
        ]
        for (const engine of [whole, small]) engine.applied("store", changes)
      }
      expect(allowed).toBeGreaterThan(10)
      expect(source.asked.load).toBe(2)
    })

  test("is asked from pages by many at once", async () => {
    const random = new Random(29)
    const source = filled(random)
    const whole = engineOver(source, {})
    await whole.warm("store")
    const small = engineOver(source, { memoryBytes: Math.floor(whole.memoryBytes / 60) })
    const requests = Array.from({ length: 120 }, () => ({
      user: `user:u${random.below(counts.users)}`,
      relation: "viewer",
      object: `doc:d${random.below(counts.docs)}`,
    }))
    for (let at = 0; at < requests.length; at += 12) {
      const some = requests.slice(at, at + 12)
      const answers = await Promise.all(some.map((request) => outcome(small.check("store", model, request))))
      const wanted = await Promise.all(some.map((request) => outcome(whole.check("store", model, request))))
      expect(answers).toEqual(wanted)
    }
  })

  test("turns to pages when it has outgrown the memory by writes", async () => {
    const source = new MemorySource()
    const engine = engineOver(source, { memoryBytes: 60_000 })
    await engine.warm("store")
    for (let at = 0; at < 1_000; at++)
      engine.applied("store", source.write(tupleOf(`doc:d${at} viewer user:u${at}`)))
    expect(engine.memoryBytes).toBeLessThan(60_000)
    const request = { user: "user:u3", relation: "viewer", object: "doc:d3" }
    expect(await outcome(engine.check("store", model, request))).toBe("true at 1000")
  })

  test("is whole again when it, or the memory, allows", async () => {
    const source = new MemorySource()
    const tuples = Array.from({ length: 1_000 }, (_, at) => tupleOf(`doc:d${at} viewer user:u${at}`))
    source.write(...tuples)
    let now = 0
    const engine = engineOver(source, { memoryBytes: 60_000, now: () => now })
    await engine.warm("store")
    const request = { user: "user:u3", relation: "viewer", object: "doc:d3" } as const
    const isWhole = async (at: number) => {
      await engine.check("store", model, { ...request, consistency: "higher-consistency" })
      await engine.warm("store")
      const { pages } = source.asked
      const user = `user:u${at}`
      expect(
        await outcome(engine.check("store", model, { user, relation: "viewer", object: `doc:d${at}` })),
      ).toMatch("true")
      return source.asked.pages === pages
    }
    expect(await isWhole(10)).toBe(false)
    const bounds = { depthMax: 25, deadlineMs: 3_000 }
    engine.bound({ ...bounds, memoryBytes: 1_000_000 })
    expect(await isWhole(20)).toBe(true)
    engine.bound({ ...bounds, memoryBytes: 60_000 })
    expect(engine.memoryBytes).toBeLessThan(60_000)
    expect(await isWhole(30)).toBe(false)
    engine.applied("store", source.delete(...tuples.slice(100)))
    expect(await isWhole(40)).toBe(false)
    now += 3_600_000
    expect(await isWhole(50)).toBe(true)
    const loads = source.asked.load
    expect(await isWhole(60)).toBe(true)
    expect(source.asked.load).toBe(loads)
  })

  test("asks for single tuples of lists too large for a page, and reads those that must be walked", async () => {
    const source = new MemorySource()
    const members = Array.from({ length: 3_000 }, (_, at) => tupleOf(`group:big member user:u${at}`))
    source.write(
      ...members,
      tupleOf("group:big member group:other#member"),
      tupleOf("group:other member user:ann"),
      ...Array.from({ length: 300 }, (_, at) => tupleOf(`folder:f${at} viewer user:busy`)),
    )
    source.pageRowsMax = 100
    const engine = engineOver(source, { paged: true, memoryBytes: 60_000 })
    const member = (user: string) =>
      outcome(engine.check("store", model, { user, relation: "member", object: "group:big" }))
    expect(await member("user:u3")).toBe("true at 1")
    expect(await member("user:ann")).toBe("true at 1")
    expect(await member("user:nobody")).toBe("false at 1")
    // Absence and presence of a tuple are kept, and follow writes.
    const { pages } = source.asked
    expect([await member("user:u3"), await member("user:nobody")]).toEqual(["true at 1", "false at 1"])
    engine.applied("store", source.write(tupleOf("group:big member user:nobody")))
    engine.applied("store", source.delete(tupleOf("group:big member user:u3")))
    expect([await member("user:u3"), await member("user:nobody")]).toEqual(["false at 3", "true at 3"])
    expect(source.asked).toMatchObject({ pages, list: 0 })
    const { bounds } = engine
    const listed = await engine.ask(
      "store",
      listObjects(model, { user: "user:busy", relation: "viewer", type: "folder" }, bounds),
    )
    expect(listed.objects).toHaveLength(300)
    expect(source.asked.list).toBe(1)
    expect(engine.memoryBytes).toBeLessThanOrEqual(60_000)
  })

  test("counts what is remembered for questions of a past revision, and refuses what does not fit", async () => {
    const source = new MemorySource()
    const tuples = Array.from({ length: 3_000 }, (_, at) => tupleOf(`doc:d${at} viewer user:u${at}`))
    source.write(...tuples)
    const counted: number[] = []
    const stood = source.stood.bind(source)
    source.stood = (...asked) => {
      counted.push(engine.memoryBytes)
      return stood(...asked)
    }
    const engine = engineOver(source, {})
    await engine.warm("store")
    engine.applied("store", source.delete(...tuples))
    const before = engine.memoryBytes
    const request = { user: "user:u7", relation: "viewer", object: "doc:d7", exactly: commit(1) }
    expect(await outcome(engine.check("store", model, request))).toBe("true at 1")
    // Three batches: as the third is asked for, two thousand tuples are remembered.
    expect((counted.at(-1) ?? 0) - before).toBeGreaterThan(1_500_000)
    expect(engine.memoryBytes).toBeLessThan(before + 300_000)
    engine.bound({ depthMax: 25, deadlineMs: 3_000, memoryBytes: 2_000_000 })
    await expect(engine.check("store", model, request)).rejects.toMatchObject({
      code: "resource_exhausted",
      message: expect.stringMatching(
        /^what has changed since the store's revision 1 does not fit .*'memory' in 'authz'/,
      ),
    })
    const now = { user: "user:u7", relation: "viewer", object: "doc:d7" }
    expect(await outcome(engine.check("store", model, now))).toBe("false at 2")
    expect(engine.memoryBytes).toBeLessThan(2_000_000)
  })

  test("gives long lists back in turns", async () => {
    const source = new MemorySource()
    const groups = [..."abcd"]
    for (const group of groups)
      source.write(
        ...Array.from({ length: 4_000 }, (_, at) => tupleOf(`group:${group} member user:${group}${at}`)),
      )
    source.pageRowsMax = 100
    const memoryBytes = 700_000
    const engine = engineOver(source, { paged: true, memoryBytes })
    for (const group of [...groups, ...groups]) {
      const request = { object: `group:${group}`, relation: "member", filter: { type: "user" } }
      const listed = await engine.ask("store", listUsers(model, request, engine.bounds))
      expect(listed.users).toHaveLength(4_000)
      for (let at = 0; at < 50; at++) await new Promise((resolve) => setImmediate(resolve))
      expect(engine.memoryBytes).toBeLessThanOrEqual(memoryBytes)
    }
    expect(source.asked.list).toBeGreaterThan(groups.length)
  })

  test("a list that does not fit is an error that says what would help, never a deny", async () => {
    const source = new MemorySource()
    source.write(...Array.from({ length: 3_000 }, (_, at) => tupleOf(`doc:d parent folder:f${at}`)))
    source.pageRowsMax = 100
    const request = { user: "user:u3", relation: "viewer", object: "doc:d" }
    const engine = engineOver(source, { paged: true, memoryBytes: 60_000 })
    await expect(engine.check("store", model, request)).rejects.toMatchObject({
      code: "resource_exhausted",
      message: expect.stringMatching(/doc:d#parent has more tuples than fit .*'memory' in 'authz'/),
    })
    // What it held is given back.
    expect(engine.memoryBytes).toBeLessThan(20_000)
    // While the store is loaded, the load is waited for.
    source.rowsPerTurn = 10
    const cold = engineOver(source, { coldMs: 0 })
    expect(await outcome(cold.check("store", model, request))).toBe("false at 1")
  })
})

test("a cold store answers from pages while it is loaded, and then whole", async () => {
  const source = filled(new Random(31))
  source.rowsPerTurn = 500
  const engine = engineOver(source, { coldMs: 0 })
  const request = { user: "user:u3", relation: "viewer", object: "doc:d3" }
  await engine.check("store", model, request)
  expect(source.asked.pages).toBeGreaterThan(0)
  engine.applied("store", source.write(tupleOf("doc:d4 viewer user:u4")))
  await engine.warm("store")
  const { pages } = source.asked
  for (let at = 0; at < 50; at++)
    expect(engine.check("store", model, { ...request, object: `doc:d${at}` })).toMatchObject({
      revision: source.feed.at(-1)?.revision,
    })
  expect(source.asked).toMatchObject({ load: 1, pages })
})

describe("memory", () => {
  for (const paged of [false, true])
    test(`stays bounded when names come and go (${paged ? "pages" : "whole"})`, async () => {
      const source = new MemorySource()
      const engine = engineOver(source, { paged })
      await engine.warm("store")
      let most = 0
      for (let round = 0; round < 60; round++) {
        const tuples = Array.from({ length: 40 }, (_, at) =>
          tupleOf(`doc:r${round}x${at} viewer user:r${round}y${at} if small {"x":${round}}`),
        )
        const request = {
          user: `user:r${round}y1`,
          relation: "viewer",
          object: `doc:r${round}x1`,
          context: { x: 1 },
        }
        await engine.check("store", model, request)
        engine.applied("store", source.write(...tuples))
        await engine.check("store", model, request)
        engine.applied("store", source.delete(...tuples))
        if (round === 3) most = engine.memoryBytes
      }
      // Pages known to be empty are pages too; nothing else is left.
      expect(engine.memoryBytes).toBeLessThan(paged ? most + 60 * 4 * 250 : most + 1)
    })
})
