import { expect, test } from "vitest"
import type { ImpactRow } from "../../runtime/check/access-change.ts"
import type { AccessImpact } from "../../runtime/check/impact.ts"
import { loadModel } from "../../runtime/check/loaded-model.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { Random } from "../naive/random.ts"
import { randomContext, randomWorld } from "../naive/worlds.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { accessOf, changeOf, edited, impactOf, told } from "./access-difference.ts"
import { modelOf, tupleOf } from "./model.ts"

const worlds = scaled(150, 0.5)

test(`gains and losses are the difference of all checks under both models (${worlds} worlds)`, async (context) => {
  const counts = { cells: 0, differences: 0, worlds: 0, undecided: 0, everyone: 0, groups: 0, sets: 0 }
  for (let at = 0; at < worlds; at += 1) {
    const seed = firstSeed + at
    const random = new Random(seed)
    const world = randomWorld(random, random.pick([0, 12, 40]))
    const next = edited(world.model, random)
    const [before, after] = random.chance(20)
      ? [loadModel(lowerModel(next)), loadModel(lowerModel(world.model))]
      : [loadModel(lowerModel(world.model)), loadModel(lowerModel(next))]
    const values = random.chance(50) ? { x: 7, p: true, q: false } : randomContext(random)
    const [old, now] = [
      await accessOf(world, before, values, "users and sets"),
      await accessOf(world, after, values, "users and sets"),
    ]
    const { rows, impact } = impactOf(world.tuples, before, after, values)
    const rowOfUser = told(rows)
    let differences = 0
    for (const cell of new Set([...old.keys(), ...now.keys()])) {
      const [user = "", node = ""] = cell.split(" ")
      const change = changeOf(old.get(cell) ?? false, now.get(cell) ?? false)
      const isSet = user.includes("#")
      const everyone = isSet ? undefined : rowOfUser.get(`${user.split(":")[0]}:* ${node}`)
      const said = rowOfUser.get(cell) ?? everyone ?? "unchanged"
      counts.cells++
      // What is undecided in the same way in both models need not be told.
      const isRight = said === change || (change === "undecided" && said === "unchanged")
      if (!isRight) expect.fail(`seed ${seed}: ${cell} ${change}, not ${said}`)
      if (change !== "unchanged" && change !== "undecided") differences++
      if (change === "undecided") counts.undecided++
      if (everyone !== undefined) counts.everyone++
      if (isSet && change !== "unchanged" && change !== "undecided") counts.sets++
    }
    counts.differences += differences
    if (differences > 0) counts.worlds++
    expect(impact.compared).toBe(impact.candidates)
    expectCounts(impact, rows)
    counts.groups += expectGroups(impact, rows, [old, now])
    expectCauses(impact, rows)
  }
  tellAsked(context, counts)
  expect(
    Math.min(counts.worlds, counts.undecided, counts.everyone, counts.groups, counts.sets),
  ).toBeGreaterThan(worlds / 20)
})

const completed = scaled(10)

test(`what is said without values is true with all values (${completed} worlds)`, async (context) => {
  const counts = { unchanged: 0, certain: 0, undecided: 0 }
  for (let at = 0; at < completed; at += 1) {
    const seed = firstSeed + 50_000 + at
    const random = new Random(seed)
    const world = randomWorld(random, 12, { conditions: 40 })
    const [before, after] = [world.model, edited(world.model, random)].map((model) =>
      loadModel(lowerModel(model)),
    )
    if (before === undefined || after === undefined) continue
    const { rows } = impactOf(world.tuples, before, after)
    const rowOfUser = told(rows)
    for (const values of [
      { x: 3, p: true, q: false },
      { x: 7, p: false, q: true },
      { x: 15, p: false, q: false },
    ]) {
      const old: Awaited<ReturnType<typeof accessOf>> = await accessOf(world, before, values)
      const now: typeof old = await accessOf(world, after, values)
      for (const cell of new Set([...old.keys(), ...now.keys()])) {
        const [user = "", node = ""] = cell.split(" ")
        const said = rowOfUser.get(cell) ?? rowOfUser.get(`${user.split(":")[0]}:* ${node}`) ?? "unchanged"
        const change = changeOf(old.get(cell) ?? false, now.get(cell) ?? false)
        if (said === "undecided") counts.undecided++
        else if (said === "unchanged") counts.unchanged++
        else if (said === "gains" || said === "loses") counts.certain++
        if (["unchanged", "gains", "loses"].includes(said) && said !== change)
          expect.fail(`seed ${seed}: ${cell} ${change} with ${JSON.stringify(values)}, not ${said}`)
      }
    }
  }
  tellAsked(context, counts)
  expect(Math.min(counts.unchanged, counts.certain)).toBeGreaterThan(completed / 20)
})

test("an access that the same conditioned tuple decides in both models is not undecided", () => {
  const text = (viewer: string) =>
    modelOf(`type user\ntype group\n  relations\n    define member: [user]
type doc\n  relations\n    define editor: [user, group#member]
    define viewer: ${viewer}\n    define reader: viewer
condition office(at_work: bool) {\n  at_work\n}\n`)
  const direct = "[user, user with office]"
  const tuples = ["doc:1 viewer user:dan if office", "doc:1 editor user:ann", "doc:1 editor user:eve"].map(
    tupleOf,
  )
  const { rows } = impactOf(tuples, text(direct), text(`${direct} or editor`))
  expect(rows.map(({ user, change }) => `${user} ${change}`).sort()).toEqual([
    "user:ann gains",
    "user:ann gains",
    "user:eve gains",
    "user:eve gains",
  ])
})

test("past the memory bound a sample is compared that is spread over the store, and the result says so", () => {
  const types = "type user\ntype doc\n  relations\n    define editor: [user]\n"
  const before = modelOf(`${types}    define viewer: [user]\n`)
  const after = modelOf(`${types}    define viewer: [user] or editor\n`)
  const tuples = Array.from({ length: 4_000 }, (_, at) => tupleOf(`doc:${at} editor user:${at % 50}`))
  const whole = impactOf(tuples, before, after)
  expect(whole.impact).toMatchObject({ compared: 4_000, candidates: 4_000 })
  const some = impactOf(tuples, before, after, undefined, 1)
  const { compared, candidates, relations } = some.impact
  expect(candidates).toBe(4_000)
  expect(compared).toBeGreaterThan(100)
  expect(compared).toBeLessThan(1_000)
  expect(relations[0]?.users.gains).toBe(compared)
  const all = new Set(whole.rows.map((row) => JSON.stringify(row)))
  expect(some.rows.filter((row) => !all.has(JSON.stringify(row)))).toEqual([])
  const numbers = some.rows.map(({ object }) => Number(object.slice("doc:".length)))
  expect(Math.max(...numbers) - Math.min(...numbers)).toBeGreaterThan(3_500)
})

/** The counts of relations are those of the rows. */
function expectCounts({ relations: all }: AccessImpact, rows: readonly ImpactRow[]): void {
  const counted: Record<string, number> = {}
  const expected: Record<string, number> = {}
  const add = (into: Record<string, number>, key: string, count: number) => {
    if (count > 0) into[key] = (into[key] ?? 0) + count
  }
  for (const { user, relation, change } of rows)
    if (change !== "unchanged")
      add(
        expected,
        `${relation} ${user.endsWith(":*") ? `${user} ` : user.includes("#") ? "set " : ""}${change}`,
        1,
      )
  for (const { relation, users, sets, everyone } of all) {
    for (const [change, count] of Object.entries(sets)) add(counted, `${relation} set ${change}`, count)
    for (const [change, count] of Object.entries(users)) add(counted, `${relation} ${change}`, count)
    for (const { type, change, objects } of everyone) add(counted, `${relation} ${type}:* ${change}`, objects)
  }
  expect(counted).toEqual(expected)
}

/** All who have, or may have, the relation of a group change on exactly so many objects. Returns the number of groups. */
function expectGroups(
  { relations: all }: AccessImpact,
  rows: readonly ImpactRow[],
  models: readonly ReadonlyMap<string, boolean | "error">[],
): number {
  const kinds = new Map(
    rows.map(({ user, relation, object, change }) => [`${user} ${relation} ${object}`, change]),
  )
  for (const { relation, groups, samples } of all)
    for (const { set, users, change, objects } of groups) {
      const named = (model: ReadonlyMap<string, boolean | "error">) =>
        [...model].flatMap(([cell, truth]) => {
          const [user = "", node] = cell.split(" ")
          return node === set && truth !== false && !/:stranger|#/.test(user) ? [user] : []
        })
      const onObjects = (members: readonly string[]) => {
        const changed = rows.filter((row) => row.relation === relation && row.change === change)
        return [...new Set(changed.map(({ object }) => object))].filter((object) =>
          members.every((user) => kinds.get(`${user} ${relation} ${object}`) === change),
        ).length
      }
      // A group has the members of the model that grants by it.
      const fitting = models.filter((model) => named(model).length === users).map(named)
      expect(fitting.length, set).toBeGreaterThan(0)
      expect(Math.max(...fitting.map(onObjects)), `${set} ${relation}`).toBeGreaterThanOrEqual(objects)
      expect(samples.some((sample) => sample.change === change && sample.group !== undefined)).toBe(true)
    }
  return all.filter(({ groups }) => groups.length > 0).length
}

/** A cause of one user has no more changes than the user has rows. */
function expectCauses({ causes }: AccessImpact, rows: readonly ImpactRow[]): void {
  for (const { subject, changes } of causes)
    if (!subject.includes("#") && !subject.endsWith(":*"))
      for (const [change, count] of Object.entries(changes))
        if (count > 0 && rows.some(({ user }) => user === subject))
          expect(
            rows.filter((row) => row.user === subject && row.change === change).length,
          ).toBeGreaterThanOrEqual(count)
}
