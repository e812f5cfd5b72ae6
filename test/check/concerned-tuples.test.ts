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

test(`the tuples that a change concerns say the same as the whole store (${worlds} worlds)`, async (context) => {
  const counts = { changed: 0, all: 0, read: 0, fewer: 0 }
  for (let at = 0; at < worlds; at += 1) {
    const random = new Random(firstSeed + 70_000 + at)
    const world = randomWorld(random, random.pick([0, 12, 40]))
    const [before, after] = [world.model, edited(world.model, random)].map((model) =>
      loadModel(lowerModel(model)),
    )
    if (before === undefined || after === undefined) continue
    const all = world.tuples.map(rowOf)
    const rows = await concernedTuples({ snapshot: new MemorySnapshot(all), before, after, max: 10_000 })
    // In the order of the store: if samples or causes are equal, the first one is shown.
    const read = new Set(rows)
    const [whole, some] = [all, all.filter((row) => read.has(row))].map((each) =>
      impactOfRows(each, before, after),
    ) as [ImpactWithRows, ImpactWithRows]
    expect(meaningOf(some), `seed ${firstSeed + 70_000 + at}`).toEqual(meaningOf(whole))
    if (whole.rows.length > 0) counts.changed++
    counts.all += all.length
    counts.read += rows?.length ?? 0
    if ((rows?.length ?? 0) < all.length) counts.fewer++
  }
  tellAsked(context, counts)
  expect(counts.changed).toBeGreaterThan(worlds / 5)
  expect(counts.fewer).toBeGreaterThan(worlds / 2)
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
