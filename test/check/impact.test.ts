import { expect, test } from "vitest"
import type { ImpactRow } from "../../runtime/check/access-change.ts"
import type { AccessImpact } from "../../runtime/check/impact.ts"
import { loadModel } from "../../runtime/check/loaded-model.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { Random } from "../naive/random.ts"
import { randomContext, randomWorld } from "../naive/worlds.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { accessOf, changeOf, edited, impactOf, told } from "./access-difference.ts"

const worlds = scaled(150)

test(`gains and losses are the difference of all checks under both models (${worlds} worlds)`, async (context) => {
  const counts = { cells: 0, differences: 0, worlds: 0, undecided: 0, everyone: 0 }
  for (let at = 0; at < worlds; at += 1) {
    const seed = firstSeed + at
    const random = new Random(seed)
    const world = randomWorld(random, random.pick([0, 12, 40]))
    const next = edited(world.model, random)
    const [before, after] = random.chance(20)
      ? [loadModel(lowerModel(next)), loadModel(lowerModel(world.model))]
      : [loadModel(lowerModel(world.model)), loadModel(lowerModel(next))]
    const values = random.chance(50) ? { x: 7, p: true, q: false } : randomContext(random)
    const [old, now] = [await accessOf(world, before, values), await accessOf(world, after, values)]
    const { rows, impact } = impactOf(world.tuples, before, after, values)
    const rowOfUser = told(rows)
    let differences = 0
    for (const cell of new Set([...old.keys(), ...now.keys()])) {
      const [user = "", node = ""] = cell.split(" ")
      const change = changeOf(old.get(cell) ?? false, now.get(cell) ?? false)
      const everyone = rowOfUser.get(`${user.split(":")[0]}:* ${node}`)
      const said = rowOfUser.get(cell) ?? everyone ?? "unchanged"
      counts.cells++
      // What is undecided in the same way in both models need not be told.
      const isRight = said === change || (change === "undecided" && said === "unchanged")
      if (!isRight) expect.fail(`seed ${seed}: ${cell} ${change}, not ${said}`)
      if (change !== "unchanged" && change !== "undecided") differences++
      if (change === "undecided") counts.undecided++
      if (everyone !== undefined) counts.everyone++
    }
    counts.differences += differences
    if (differences > 0) counts.worlds++
    expect(impact.compared).toBe(impact.candidates)
    expectCounts(impact, rows)
  }
  tellAsked(context, counts)
  expect(Math.min(counts.worlds, counts.undecided, counts.everyone)).toBeGreaterThan(worlds / 20)
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
      add(expected, `${relation} ${user.endsWith(":*") ? `${user} ` : ""}${change}`, 1)
  for (const { relation, users, everyone } of all) {
    for (const [change, count] of Object.entries(users)) add(counted, `${relation} ${change}`, count)
    for (const { type, change, objects } of everyone) add(counted, `${relation} ${type}:* ${change}`, objects)
  }
  expect(counted).toEqual(expected)
}
