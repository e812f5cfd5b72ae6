import { expect, test } from "vitest"
import { concernedTuples } from "../../runtime/check/concerned-tuples.ts"
import { loadModel } from "../../runtime/check/loaded-model.ts"
import type { TupleRow } from "../../runtime/check/ports.ts"
import { rowOf } from "../../runtime/check/tuple.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { Random } from "../naive/random.ts"
import { randomWorld } from "../naive/worlds.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { edited, type ImpactWithRows, impactOfRows } from "./access-difference.ts"
import { MemorySnapshot } from "./memory-snapshot.ts"
import { modelOf } from "./model.ts"

const worlds = scaled(40)

/** What must not depend on how much of a store is read. Which one of several equal examples is shown depends on the order of names. */
function meaningOf({ impact, rows }: ImpactWithRows) {
  const { users, objects, tuples } = impact
  return {
    ...{ users, objects, tuples },
    rows: rows.map((row) => JSON.stringify(row)).sort(),
    causes: impact.causes.map(({ users, objects, changes }) => ({ users, objects, changes })),
    relations: impact.relations.map(({ samples, groups, ...relation }) => ({
      ...relation,
      samples: samples.map(({ change }) => change).sort(),
      groups: groups.map(({ change, users, objects }) => ({ change, users, objects })),
    })),
  }
}

/** Compares both readings of a random world, and says what was read. */
async function compareReadings(seed: number) {
  const random = new Random(seed)
  const world = randomWorld(random, random.pick([0, 12, 40]))
  const before = loadModel(lowerModel(world.model))
  const after = loadModel(lowerModel(edited(world.model, random)))
  const all = world.tuples.map(rowOf)
  const rows = await concernedTuples({ snapshot: new MemorySnapshot(all), before, after, max: 10_000 })
  // In the order of the store: if samples or causes are equal, the first one is shown.
  const read = new Set(rows)
  const whole = impactOfRows(all, before, after)
  const some = impactOfRows(
    all.filter((row) => read.has(row)),
    before,
    after,
  )
  expect(meaningOf(some), `seed ${seed}`).toEqual(meaningOf(whole))
  return { changed: whole.rows.length > 0, all: all.length, read: rows?.length ?? 0 }
}

test(`the tuples that a change concerns say the same as the whole store (${worlds} worlds)`, async (context) => {
  const counts = { changed: 0, all: 0, read: 0, fewer: 0 }
  for (let at = 0; at < worlds; at += 1) {
    const { changed, all, read } = await compareReadings(firstSeed + 70_000 + at)
    if (changed) counts.changed++
    counts.all += all
    counts.read += read
    if (read < all) counts.fewer++
  }
  tellAsked(context, counts)
  expect(counts.changed).toBeGreaterThan(worlds / 5)
  expect(counts.fewer).toBeGreaterThan(worlds / 2)
})

test("a set that both models have begins no change, though another part of its relation differs", async () => {
  // `doc#b` loses a slot without tuples, and a tuple names `doc:2#b`; its reader is in a cycle, which no comparison of nodes unites.
  expect(await compareReadings(71_033)).toEqual({ changed: true, all: 15, read: 10 })
})

test("the types of which everybody gains are in one order, whichever tuple is read first", async () => {
  expect(await compareReadings(370_725)).toMatchObject({ changed: true })
})

const folders = (viewer: string) =>
  loadModel(
    modelOf(
      `type user\ntype group\n  relations\n    define member: [user]\ntype folder\n  relations\n    define parent: [folder]\n    define auditor: [user, group#member]\n    define viewer: ${viewer}\ntype doc\n  relations\n    define parent: [folder]\n    define owner: [user]\n    define viewer: [user] or viewer from parent\n`,
    ).plan,
  )
const before = folders("[user] or viewer from parent")
const after = folders("[user] or viewer from parent or auditor")
const row = (object: string, relation: string, subject: string, set = ""): TupleRow =>
  [...[object, relation, subject, set, "", ""]] as unknown as TupleRow

const concerned = [
  row("folder:a", "auditor", "group:eng", "member"),
  row("group:eng", "member", "user:ann"),
  row("folder:b", "parent", "folder:a"),
  row("folder:b", "viewer", "user:bob"),
  row("doc:1", "parent", "folder:b"),
]
const others = [
  row("doc:1", "owner", "user:cid"),
  row("folder:c", "viewer", "user:cid"),
  row("doc:2", "parent", "folder:c"),
  row("group:ops", "member", "user:cid"),
]

test("reads upwards to what reads the change, and downwards to what decides it", async () => {
  const snapshot = new MemorySnapshot([...concerned, ...others])
  const rows = await concernedTuples({ snapshot, before, after, max: 100 })
  expect([...(rows ?? [])].sort()).toEqual([...concerned].sort())
})

test("a change that concerns no tuple reads none", async () => {
  const snapshot = new MemorySnapshot([...concerned, ...others])
  expect(await concernedTuples({ snapshot, before, after: before, max: 100 })).toEqual([])
})

test.each([1, 2, 3, 4, 5])("more than %i tuples are not read one part after the other", async (max) => {
  const snapshot = new MemorySnapshot([...concerned, ...others])
  expect(await concernedTuples({ snapshot, before, after, max })).toBeUndefined()
})
