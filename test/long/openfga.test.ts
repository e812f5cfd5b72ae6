import { readFileSync } from "node:fs"
import { afterAll, beforeAll, expect, test } from "vitest"
import { loadModel } from "../../runtime/check/loaded-model.ts"
import type { TupleKey } from "../../runtime/check/ports.ts"
import { validateTuple } from "../../runtime/check/tuple.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { Random } from "../naive/random.ts"
import { type RandomWorld, randomContext, randomTuple } from "../naive/worlds.ts"
import { describePostgres } from "../postgres.ts"
import { openfgaBinary, openfgaMissing } from "../support/openfga.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { type Both, noAnswer, startBoth } from "./peer/both.ts"
import {
  type AskedCheck,
  nameOfDifference,
  nameOfModelDifference,
  outcomeOf,
  rightOutcome,
} from "./peer/check-differences.ts"
import { askObjects, askTree, askUsers, nameOfListDifference } from "./peer/list-differences.ts"
import { validWorld } from "./peer/valid-world.ts"
import { nameOfWriteDifference } from "./peer/write-differences.ts"

// The same random questions to OpenFGA and to us. We must be right by the independent evaluator; where OpenFGA answers
// otherwise the difference must have a name. `OPENFGA_BIN` names the server.

const worlds = scaled(12)
const checksPerWorld = 40
const listsPerWorld = 20
const binary = openfgaBinary()

describePostgres("beside OpenFGA", () => {
  let both: Both
  beforeAll(async () => {
    if (binary !== undefined) both = await startBoth(binary)
  })
  afterAll(() => both?.close())

  test(`${worlds} random worlds get the right answers, and each difference of OpenFGA has a name`, async (context) => {
    if (binary === undefined) return context.skip(openfgaMissing)
    const differences = new Map<string, number>()
    let asked = 0
    for (let seed = firstSeed; seed < firstSeed + worlds; seed += 1)
      asked += await runWorld(both, seed, differences)
    const readme = readFileSync(
      new URL("../../compiler/docs/coming-from/openfga.md", import.meta.url),
      "utf8",
    )
    for (const name of differences.keys()) expect(readme).toContain(`\n| ${name.replace(/^\w+: /, "")} `)
    tellAsked(context, { "questions to both": asked, ...Object.fromEntries(differences) })
    expect(asked).toBeGreaterThan(0)
  })
})

async function runWorld(both: Both, seed: number, differences: Map<string, number>): Promise<number> {
  const random = new Random(seed)
  const world = validWorld(random)
  await both.store()
  const model = await both.model(world.model)
  if (model.ours.status !== model.theirs.status) {
    const where = `seed ${seed}: ${JSON.stringify(world.model)}`
    const name = nameOfModelDifference(model.theirs) ?? expect.fail(`${where}: ${JSON.stringify(model)}`)
    count(differences, name)
  }
  if (model.ours.status !== 201 || model.theirs.status !== 201) return 0
  const tuples = await writeTuples(both, seed, world, differences)
  for (let at = 0; at < checksPerWorld; at += 1) {
    const asked = randomCheck(random, world, tuples)
    const said = await both.call("POST", "/stores/{store}/check", bodyOf(asked))
    const ours = outcomeOf(said.ours)
    const theirs = outcomeOf(said.theirs)
    if (ours === theirs && ours === "authorization_model_resolution_too_complex") continue
    const where = `seed ${seed}: ${JSON.stringify(asked)}`
    expect([where, ours]).toEqual([where, rightOutcome(asked)])
    if (ours === theirs) continue
    const name =
      nameOfDifference(asked, theirs) ?? expect.fail(`${where}: OpenFGA says ${theirs}, right is ${ours}`)
    count(differences, name)
    if (theirs === noAnswer) return at + 1
  }
  for (let at = 0; at < listsPerWorld; at += 1) {
    const asked = randomCheck(random, world, tuples)
    const list = random.pick([askObjects, askUsers, askTree])(random, asked)
    const said = await both.call("POST", list.path, list.body)
    const where = `seed ${seed}: ${list.path} ${JSON.stringify(list.body)} of ${JSON.stringify(asked)}`
    const ours = list.outcomeOf(said.ours)
    expect([where, ours]).toEqual([where, list.right])
    const theirs = list.outcomeOf(said.theirs)
    if (JSON.stringify(ours) === JSON.stringify(theirs)) continue
    const name = nameOfListDifference(list, theirs)
    count(
      differences,
      name ??
        expect.fail(`${where}: OpenFGA says ${JSON.stringify(theirs)}, right is ${JSON.stringify(ours)}`),
    )
    if (theirs === noAnswer) return checksPerWorld + at + 1
  }
  return checksPerWorld + listsPerWorld
}

function count(differences: Map<string, number>, name: string): void {
  differences.set(name, (differences.get(name) ?? 0) + 1)
}

/** Valid tuples go in; those that the model forbids must be refused by both with the same error, or are taken out of OpenFGA again. */
async function writeTuples(
  both: Both,
  seed: number,
  world: RandomWorld,
  differences: Map<string, number>,
): Promise<TupleKey[]> {
  const written: TupleKey[] = []
  for (const tuple of world.tuples) {
    const said = await both.call("POST", "/stores/{store}/write", { writes: { tuple_keys: [tuple] } })
    const where = `seed ${seed}: write ${JSON.stringify(tuple)}`
    const name = nameOfWriteDifference(world.model, tuple, said)
    if (name !== undefined) {
      count(differences, name)
      const { user, relation, object } = tuple
      const deletes = { tuple_keys: [{ user, relation, object }], on_missing: "ignore" }
      const taken = await both.call("POST", "/stores/{store}/write", { deletes })
      expect([where, taken.theirs.status, taken.ours.status]).toEqual([where, 200, 200])
      continue
    }
    expect([where, said.ours.status, said.ours.json?.code]).toEqual([
      where,
      said.theirs.status,
      said.theirs.json?.code,
    ])
    if (said.ours.status === 200) written.push(tuple)
  }
  return written
}

function randomCheck(random: Random, world: RandomWorld, tuples: readonly TupleKey[]): AskedCheck {
  const model = loadModel(lowerModel(world.model))
  const contextual = new Map<string, TupleKey>()
  for (let at = random.chance(30) ? random.below(4) : 0; at > 0; at -= 1) {
    const tuple = randomTuple(random, world.model, world.objects)
    if (tuple !== undefined && validateTuple(model, tuple) === undefined)
      contextual.set(`${tuple.object}#${tuple.relation}@${tuple.user}`, tuple)
  }
  return {
    model: world.model,
    tuples,
    objects: world.objects,
    key: {
      user: random.pick(world.users),
      relation: random.pick(["a", "b", "c", "d"]),
      object: random.pick(world.objects),
    },
    context: random.chance(60) ? randomContext(random) : {},
    contextual: [...contextual.values()],
  }
}

function bodyOf({ key, context, contextual }: AskedCheck): object {
  return { tuple_key: key, context, contextual_tuples: { tuple_keys: contextual } }
}
