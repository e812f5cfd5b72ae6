import { expect, test } from "vitest"
import type { ImpactRow } from "../../runtime/check/access-change.ts"
import { Engine } from "../../runtime/check/engine.ts"
import { type AccessImpact, accessImpact, ImpactTuples } from "../../runtime/check/impact.ts"
import { type LoadedModel, loadModel } from "../../runtime/check/loaded-model.ts"
import { matrix } from "../../runtime/check/matrix.ts"
import { packRows, type TupleKey } from "../../runtime/check/ports.ts"
import { rowOf } from "../../runtime/check/tuple.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import type { AuthorizationModel } from "../../runtime/plan/authorization-model.ts"
import { withAnother } from "../model-compare/another-model.ts"
import { Random } from "../naive/random.ts"
import { type RandomWorld, randomContext, randomWorld } from "../naive/worlds.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { MemorySource } from "./memory-source.ts"

const worlds = scaled(150)
const relations = ["a", "b", "c", "d", "parent", "e"]
const types = ["user", "robot", "group", "folder", "doc"]

interface Compared {
  readonly impact: AccessImpact
  readonly rows: readonly ImpactRow[]
}

function impactOf(
  tuples: readonly TupleKey[],
  before: LoadedModel,
  after: LoadedModel,
  context?: Record<string, unknown>,
): Compared {
  const stored = new ImpactTuples()
  stored.load(packRows(tuples.map(rowOf)))
  for (const _ of stored.finish());
  const rows: ImpactRow[] = []
  const running = accessImpact({ tuples: stored, before, after, context, onRow: (row) => rows.push(row) })
  for (;;) {
    const step = running.next()
    if (step.done === true) return { impact: step.value, rows }
  }
}

/** Every plain user that a tuple names, and one of each type that none names. */
function usersOf(tuples: readonly TupleKey[]): string[] {
  const named = tuples.map(({ user }) => user).filter((user) => !user.includes("#") && !user.endsWith(":*"))
  return [...new Set([...named, ...types.map((type) => `${type}:stranger`)])]
}

/** The access of every user by every relation to every object: true, false or an error. */
async function accessOf(
  { tuples, objects }: RandomWorld,
  model: LoadedModel,
  context: Record<string, unknown>,
): Promise<Map<string, boolean | "error">> {
  const source = new MemorySource()
  source.write(...tuples)
  const engine = new Engine(source, { pollMs: 0, depthMax: Number.POSITIVE_INFINITY })
  const users = usersOf(tuples)
  const known = new Set(model.types.keys())
  const found = new Map<string, boolean | "error">()
  try {
    const asked = users.filter((user) => known.has(user.split(":")[0] ?? ""))
    const kept = objects.filter((object) => known.has(object.split(":")[0] ?? ""))
    const { cells } = await engine.ask(
      "store",
      matrix(model, { users: asked, relations, objects: kept, context }, engine.bounds),
    )
    for (const [u, user] of asked.entries())
      for (const [r, relation] of relations.entries())
        for (const [o, object] of kept.entries()) {
          const cell = cells[u]?.[r]?.[o]
          found.set(`${user} ${object}#${relation}`, typeof cell === "boolean" ? cell : "error")
        }
  } finally {
    engine.close()
  }
  return found
}

function changeOf(old: boolean | "error", next: boolean | "error"): string {
  if (old === next) return old === "error" ? "undecided" : "unchanged"
  if (old === "error") return next ? "may-gain" : "may-lose"
  if (next === "error") return old ? "may-lose" : "may-gain"
  return next ? "gains" : "loses"
}

/** What the rows say of a user: its own row, or that of everybody. */
function told(rows: readonly ImpactRow[]): Map<string, string> {
  return new Map(
    rows.map(({ user, relation, object, change }) => [`${user} ${object}#${relation.split("#")[1]}`, change]),
  )
}

/** Another model: one or two edits, sometimes a condition with another expression, or one relation more or less. */
function edited(model: AuthorizationModel, random: Random): AuthorizationModel {
  let next = withAnother(model, randomWorld(random).model, random)
  if (random.chance(40)) next = withAnother(next, randomWorld(random).model, random)
  next = structuredClone(next)
  if (random.chance(20) && next.conditions?.["small"] !== undefined)
    next.conditions["small"] = { ...next.conditions["small"], expression: "x < 5" }
  const definition = random.pick(next.type_definitions.slice(2))
  if (random.chance(15) && definition.relations !== undefined) {
    const copied = random.pick(["a", "b", "c"])
    definition.relations["e"] = structuredClone(definition.relations[copied] ?? { this: {} })
    const listed = definition.metadata?.relations?.[copied]
    if (listed !== undefined && definition.metadata?.relations !== undefined)
      definition.metadata.relations["e"] = listed
  }
  return next
}

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
