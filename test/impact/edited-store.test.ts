import { expect, test } from "vitest"
import { concernedTuples } from "../../runtime/check/concerned-tuples.ts"
import { loadModel } from "../../runtime/check/loaded-model.ts"
import { firstCommit, packRows, type TupleKey, type TupleRow } from "../../runtime/check/ports.ts"
import { rowOf } from "../../runtime/check/tuple.ts"
import { editedStore, type TupleEdit } from "../../runtime/impact/edited-store.ts"
import type { ImpactSource } from "../../runtime/impact/store-impact.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { accessOf, changeOf, type ImpactWithRows, impactOfRows, told } from "../check/access-difference.ts"
import { MemorySnapshot } from "../check/memory-snapshot.ts"
import { modelOf } from "../check/model.ts"
import { Random } from "../naive/random.ts"
import { randomContext, randomWorld } from "../naive/worlds.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"

const keyOf = ({ user, relation, object }: TupleKey) => `${user} ${relation} ${object}`

function sourceOf(rows: readonly TupleRow[]): ImpactSource {
  return {
    snapshot: (_storeId, read) => read(new MemorySnapshot(rows)),
    load: async (_storeId, onBatch) => {
      for (let at = 0; at < rows.length; at += 7) await onBatch(packRows(rows.slice(at, at + 7)))
      return firstCommit
    },
  }
}

/** What an edit does, by the tuples that it concerns and by the whole store. */
async function impactsOf(
  model: ReturnType<typeof lowerModel>,
  rows: readonly TupleRow[],
  edit: TupleEdit,
  context?: Record<string, unknown>,
): Promise<readonly ImpactWithRows[]> {
  const edited = editedStore(model, edit)
  const [before, after] = [loadModel(edited.before), loadModel(edited.after)]
  const source = edited.source(sourceOf(rows))
  const concerned = await source.snapshot("store", (snapshot) =>
    concernedTuples({ snapshot, before, after, max: 10_000 }),
  )
  let text = ""
  await source.load("store", (some) => {
    text += some
  })
  const all = text
    .split("\n")
    .slice(0, -1)
    .map((line): TupleRow => {
      const [object = "", subject = "", relation = "", set = "", condition = "", json = ""] = line.split("\t")
      return [object, relation, subject, set, condition, json]
    })
  expect(new Set(all.map((row) => row.slice(0, 4).join(" "))).size).toBe(all.length)
  return [concerned ?? [], all].map((each) => impactOfRows(each, before, after, context))
}

const worlds = scaled(60, 0.5)

test(`the effect of an edit is the difference of all checks before and after it (${worlds} worlds)`, async (context) => {
  const counts = { cells: 0, gains: 0, loses: 0, undecided: 0, worlds: 0 }
  for (let at = 0; at < worlds; at += 1) {
    const seed = firstSeed + 90_000 + at
    const random = new Random(seed)
    const world = randomWorld(random, random.pick([0, 12, 40]))
    const tuples = [...new Map(world.tuples.map((each) => [keyOf(each), each])).values()]
    const isOf = (step: number, from: number) => (_: unknown, index: number) => index % step === from
    const step = random.pick([5, 9, 20])
    const writes = tuples.filter(isOf(step, 0)).slice(0, 4)
    const deletes = tuples.filter(isOf(step, 1)).slice(0, random.pick([0, 1, 3]))
    const stored = tuples.filter((each) => !writes.includes(each))
    const values = random.chance(50) ? { x: 7, p: true, q: false } : randomContext(random)
    const model = lowerModel(world.model)
    const next = [...stored.filter((each) => !deletes.includes(each)), ...writes]
    const [old, now] = await Promise.all(
      [stored, next].map((each) =>
        accessOf({ tuples: each, objects: world.objects }, loadModel(model), values, "users and sets"),
      ),
    )
    const edit = { writes: writes.map(rowOf), deletes: deletes.map(rowOf) }
    for (const { rows } of await impactsOf(model, stored.map(rowOf), edit, values)) {
      const rowOfUser = told(rows)
      expect(rows.filter(({ relation }) => /[+-]/.test(relation))).toEqual([])
      let differences = 0
      for (const [cell, was] of old ?? []) {
        if (!now?.has(cell)) continue
        const [user = "", node = ""] = cell.split(" ")
        const change = changeOf(was, now.get(cell) ?? false)
        const everyone = user.includes("#") ? undefined : rowOfUser.get(`${user.split(":")[0]}:* ${node}`)
        const said = rowOfUser.get(cell) ?? everyone ?? "unchanged"
        const isRight = said === change || (change === "undecided" && said === "unchanged")
        if (!isRight) expect.fail(`seed ${seed}: ${cell} ${change}, not ${said}`)
        counts.cells++
        if (change === "gains") counts.gains++
        if (change === "loses") counts.loses++
        if (change === "undecided") counts.undecided++
        if (change === "gains" || change === "loses") differences++
      }
      if (differences > 0) counts.worlds++
    }
  }
  tellAsked(context, counts)
  expect(Math.min(counts.gains, counts.loses)).toBeGreaterThan(worlds)
  expect(counts.worlds).toBeGreaterThan(worlds / 4)
})

const model = modelOf(`type user
type group
  relations
    define member: [user, group#member]
type folder
  relations
    define viewer: [user, user:*, group#member]
type doc
  relations
    define parent: [folder]
    define blocked: [user]
    define viewer: ([user, group#member] or viewer from parent) but not blocked
`).plan
const row = (user: string, relation: string, object: string) => rowOf({ user, relation, object })
const stored = [
  row("user:ann", "member", "group:eng"),
  row("user:bob", "member", "group:eng"),
  row("folder:a", "parent", "doc:1"),
  row("user:bob", "viewer", "doc:2"),
  row("user:bob", "blocked", "doc:1"),
]

test.each([
  ["a group by a folder", [row("group:eng#member", "viewer", "folder:a")], [], ["user:ann gains doc:1"]],
  [
    "everybody",
    [row("user:*", "viewer", "folder:a")],
    [],
    ["user:* gains doc:1", "user:bob unchanged doc:1"],
  ],
  ["an exclusion", [], [row("user:bob", "blocked", "doc:1")], []],
  ["a tuple alone", [], [row("user:bob", "viewer", "doc:2")], ["user:bob loses doc:2"]],
  [
    "a replaced parent",
    [row("folder:a", "parent", "doc:2"), row("user:ann", "viewer", "folder:a")],
    [row("folder:a", "parent", "doc:1")],
    ["user:ann gains doc:2"],
  ],
  [
    "what is stored already, and what is not",
    [row("user:bob", "viewer", "doc:2")],
    [row("user:eve", "viewer", "doc:2")],
    [],
  ],
] as const)("%s", async (_name, writes, deletes, expected) => {
  for (const { rows } of await impactsOf(model, stored, { writes, deletes })) {
    const told = rows
      .filter(({ relation, user }) => relation === "doc#viewer" && !user.includes("#"))
      .map(({ user, change, object }) => `${user} ${change} ${object}`)
    expect(told.sort()).toEqual([...expected].sort())
  }
})
