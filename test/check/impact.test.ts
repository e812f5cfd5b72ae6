import { expect, test } from "vitest"
import type { ImpactRow } from "../../runtime/check/access-change.ts"
import type { AccessImpact } from "../../runtime/check/impact.ts"
import { loadModel } from "../../runtime/check/loaded-model.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { Random } from "../naive/random.ts"
import { type RandomWorld, randomContext, randomWorld } from "../naive/worlds.ts"
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
      // What an error of a condition would be with its values may be known better: the next two tests try all values.
      const isOpen = (kind: string) => ["undecided", "may-gain", "may-lose"].includes(kind)
      const isRight = said === change || (isOpen(change) && (isOpen(said) || said === "unchanged"))
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
        const isDenied = said === "may-gain" ? change === "loses" : said === "may-lose" && change === "gains"
        if (isDenied || (["unchanged", "gains", "loses"].includes(said) && said !== change))
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

const tried = scaled(25)

/** The ways in which an access can become other with values. */
const possible = { "may-gain": ["gains"], "may-lose": ["loses"], undecided: ["gains", "loses"] } as const

test(`an access may change only if there are values with which it does (${tried} worlds)`, async (context) => {
  const counts = { shown: 0, exclusions: 0 }
  for (let at = 0; at < tried; at += 1) {
    const seed = firstSeed + 90_000 + at
    const random = new Random(seed)
    const flavour = { conditions: 40, ...(random.chance(50) ? { unions: 100 } : {}) }
    const world = withComparisons(randomWorld(random, 12, flavour))
    const changed = random.chance(30) ? { small: comparison("small", random.pick(["x < 5", "x <= 13"])) } : {}
    const next = edited(world.model, random)
    const models = [world.model, { ...next, conditions: { ...world.model.conditions, ...changed } }]
    const [before, after] = models.map((model) => loadModel(lowerModel(model)))
    if (before === undefined || after === undefined) continue
    const left = new Map<string, string[]>()
    for (const [cell, said] of told(impactOf(world.tuples, before, after).rows))
      if (said in possible) left.set(cell, [...possible[said as keyof typeof possible]])
    counts.shown += left.size
    for (const values of allValues) {
      if (left.size === 0) break
      const old = await accessOf(world, before, values, "users and sets")
      const now = await accessOf(world, after, values, "users and sets")
      for (const [cell, changes] of left) {
        const [user = "", node = ""] = cell.split(" ")
        const asked = user.endsWith(":*") ? `${user.slice(0, -1)}stranger ${node}` : cell
        const change = changeOf(old.get(asked) ?? false, now.get(asked) ?? false)
        if (changes.includes(change)) changes.splice(changes.indexOf(change), 1)
        if (changes.length === 0) left.delete(cell)
      }
    }
    expect([...left], `seed ${seed}`).toEqual([])
    if (JSON.stringify(models).includes("difference")) counts.exclusions++
  }
  tellAsked(context, counts)
  expect(Math.min(counts.shown, counts.exclusions)).toBeGreaterThan(0)
})

/** Values of two parameters in all orders, also around 5 and 12, the values that tuples have. */
const around = [3, 4, 5, 6, 7, 12, 13, 14]
const twoValues = around.flatMap((x) => around.flatMap((y) => [true, false].map((p) => ({ x, y, p }))))

const compared = scaled(3, 0.5)

test(`conditions that compare two parameters: what is certain is true with all values, and what may change does (${compared} worlds)`, async (context) => {
  const counts = { certain: 0, shown: 0 }
  for (let at = 0; at < compared; at += 1) {
    const seed = firstSeed + 130_000 + at
    const random = new Random(seed)
    const made = withComparisons(randomWorld(random, 12, { conditions: 40 }), {
      small: "x < y",
      either: "p || y < x",
      both: "x <= y",
    })
    const tuples = made.tuples.map((tuple) => {
      const { condition } = tuple
      const x = condition?.context?.["x"]
      if (condition === undefined || x === undefined) return tuple
      return { ...tuple, condition: { name: condition.name, context: { x: Number(x) < 10 ? 5 : 12 } } }
    })
    const world = { ...made, tuples }
    const changed = random.chance(50) ? { small: comparison("small", "x <= y && x != y") } : {}
    const next = edited(world.model, random)
    const models = [world.model, { ...next, conditions: { ...world.model.conditions, ...changed } }]
    const [before, after] = models.map((model) => loadModel(lowerModel(model)))
    if (before === undefined || after === undefined) continue
    const rowOfUser = told(impactOf(world.tuples, before, after).rows)
    const left = new Map<string, string[]>()
    for (const [cell, said] of rowOfUser)
      if (said in possible) left.set(cell, [...possible[said as keyof typeof possible]])
    counts.shown += left.size
    for (const values of twoValues) {
      const old: Awaited<ReturnType<typeof accessOf>> = await accessOf(world, before, values)
      const now: typeof old = await accessOf(world, after, values)
      for (const cell of new Set([...old.keys(), ...now.keys()])) {
        const [user = "", node = ""] = cell.split(" ")
        const said = rowOfUser.get(cell) ?? rowOfUser.get(`${user.split(":")[0]}:* ${node}`) ?? "unchanged"
        const change = changeOf(old.get(cell) ?? false, now.get(cell) ?? false)
        if (said === "gains" || said === "loses") counts.certain++
        const isDenied = said === "may-gain" ? change === "loses" : said === "may-lose" && change === "gains"
        if (isDenied || (["unchanged", "gains", "loses"].includes(said) && said !== change))
          expect.fail(`seed ${seed}: ${cell} ${change} with ${JSON.stringify(values)}, not ${said}`)
      }
      for (const [cell, changes] of left) {
        const [user = "", node = ""] = cell.split(" ")
        const asked = user.endsWith(":*") ? `${user.slice(0, -1)}stranger ${node}` : cell
        const change = changeOf(old.get(asked) ?? false, now.get(asked) ?? false)
        if (changes.includes(change)) changes.splice(changes.indexOf(change), 1)
        if (changes.length === 0) left.delete(cell)
      }
    }
    expect(
      [...left].filter(([cell]) => !cell.split(" ")[0]?.includes("#")),
      `seed ${seed}`,
    ).toEqual([])
  }
  tellAsked(context, counts)
  if (compared > 50) expect(Math.min(counts.certain, counts.shown)).toBeGreaterThan(0)
})

const comparison = (name: string, expression: string) => ({
  name,
  expression,
  parameters: {
    ...(/x/.test(expression) ? { x: { type_name: "TYPE_NAME_INT" } } : {}),
    ...(/y/.test(expression) ? { y: { type_name: "TYPE_NAME_INT" } } : {}),
    ...(/p/.test(expression) ? { p: { type_name: "TYPE_NAME_BOOL" } } : {}),
  },
})

/** One value of each region that the comparisons of `withComparisons` divide the integers into. */
const allValues = [4, 5, 10, 11, 12, 13, 14].flatMap((x) => [
  { x, p: true },
  { x, p: false },
])

/** The world with conditions that compare the same parameter, so that one may imply the other or exclude it. */
function withComparisons(
  world: RandomWorld,
  { small, either, both } = { small: "x < 11", either: "p || x > 11", both: "x < 13" },
): RandomWorld {
  const conditions = {
    small: comparison("small", small),
    either: comparison("either", either),
    both: comparison("both", both),
  }
  // With a part of its values, a condition may be true whatever the others are, and yet needs them.
  const tuples = world.tuples.map((tuple) => {
    const { condition } = tuple
    if (condition?.context === undefined) return tuple
    const kept = Object.entries(condition.context).filter(
      ([name]) => name === "x" && condition.name !== "either",
    )
    return { ...tuple, condition: { name: condition.name, context: Object.fromEntries(kept) } }
  })
  return { ...world, tuples, model: { ...world.model, conditions } }
}

const hops = (
  from: string,
  conditions = "condition a(p: bool) {\n  p\n}\ncondition b(q: bool) {\n  q\n}\n",
) =>
  modelOf(`type user\ntype folder\n  relations\n    define viewer: [user]\ntype doc\n  relations
    define parent: [folder with a]\n    define other: [folder with a, folder with b]\n    define viewer: viewer from ${from}\n${conditions}`)
const inFolder = ["folder:1 viewer user:ann", "doc:1 parent folder:1 if a"]

test("a hop under another condition is undecided, under the same one it is unchanged", () => {
  const changes = (tuple: string) =>
    impactOf([...inFolder, tuple].map(tupleOf), hops("parent"), hops("other")).rows.map(
      ({ user, change }) => `${user} ${change}`,
    )
  expect(changes("doc:1 other folder:1 if a")).toEqual([])
  expect(changes("doc:1 other folder:1 if b")).toEqual(["user:ann undecided"])
})

test("a hop whose condition changed under its name is undecided", () => {
  const other = hops("parent", "condition a(p: bool) {\n  !p\n}\ncondition b(q: bool) {\n  q\n}\n")
  const { rows } = impactOf(inFolder.map(tupleOf), hops("parent"), other)
  expect(rows.map(({ user, relation, change }) => `${user} ${relation} ${change}`).sort()).toEqual([
    "folder:1 doc#parent undecided",
    "user:ann doc#viewer undecided",
  ])
})

test("relations that refer to each other are not undecided where conditions decide them alike", () => {
  const text = (viewer: string) =>
    modelOf(`type user\ntype folder\n  relations\n    define parent: [folder with a]
    define owner: [user]\n    define editor: [user] or viewer from parent\n    define viewer: ${viewer}
condition a(p: bool) {\n  p\n}\n`)
  const tuples = [
    "folder:1 parent folder:2 if a",
    "folder:2 parent folder:1 if a",
    "folder:1 viewer user:ann",
    "folder:2 owner user:bob",
  ].map(tupleOf)
  const { rows } = impactOf(
    tuples,
    text("[user] or editor from parent"),
    text("[user] or editor from parent or owner"),
  )
  expect(
    rows.map(({ user, change, relation, object }) => `${user} ${change} ${relation} ${object}`).sort(),
  ).toEqual(["user:bob gains folder#viewer folder:2", "user:bob may-gain folder#editor folder:1"])
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

test("who loses an access is told the nearest tuples that would give it back", () => {
  const text = (viewer: string) =>
    modelOf(
      `type user\ntype doc\n  relations\n    define owner: [user]\n    define member: [user]\n    define editor: [user]\n    define viewer: ${viewer}\n`,
    )
  const afterOf = (before: string, after: string) =>
    impactOf(["doc:1 editor user:ann", "doc:1 owner user:ann"].map(tupleOf), text(before), text(after))
      .impact.relations.find(({ relation }) => relation === "doc#viewer")
      ?.samples.map((sample) => sample.after.reasons)
  expect(afterOf("owner or editor", "member")).toEqual([
    ["it would be allowed after any of", "  write user:ann member doc:1"],
  ])
  expect(afterOf("editor", "editor and member")).toEqual([
    ["it would be allowed after any of", "  write user:ann member doc:1"],
  ])
  expect(afterOf("editor", "editor but not owner")?.[0]?.slice(-2)).toEqual([
    "it would be allowed after any of",
    "  delete user:ann owner doc:1",
  ])
})
