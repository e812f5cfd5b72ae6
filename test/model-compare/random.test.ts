import { expect, test } from "vitest"
import {
  compareRelations,
  type RelationMeaning,
  setExamples,
} from "../../compiler/model-compare/compare-relations.ts"
import type { AccessExample } from "../../compiler/model-compare/example.ts"
import type { TupleKey } from "../../runtime/check/ports.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { pairOf } from "../../runtime/model/model-pair.ts"
import type { AuthorizationModel } from "../../runtime/plan/authorization-model.ts"
import { NaiveEvaluator, yes } from "../naive/evaluator.ts"
import { Random } from "../naive/random.ts"
import { type RandomWorld, randomWorld } from "../naive/worlds.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { withAnother } from "./another-model.ts"

const worlds = scaled(60, 0.25)
/** Stores of the same model on which a proof is tried. */
const storesPerProof = 3

const has = (
  model: AuthorizationModel,
  tuples: readonly TupleKey[],
  objects: readonly string[],
  { user, relation, object }: Pick<AccessExample, "user" | "relation" | "object">,
): boolean =>
  new NaiveEvaluator(model, tuples, objects, user, () => yes).solve().get(`${object}#${relation}`) === yes

/** The tuples of an example, with conditions that are true. */
const stored = ({ tuples }: AccessExample): TupleKey[] =>
  tuples.map(({ user, relation, object, condition }) => ({
    ...{ user, relation, object },
    ...(condition === undefined ? {} : { condition: { name: condition } }),
  }))

const objectsOf = (tuples: readonly TupleKey[]): string[] => [
  ...new Set(tuples.flatMap(({ user, object }) => [object, user.split("#")[0] ?? ""])),
]

/** Whether the relation differs as the example says; without any of its tuples it must not. */
function confirm(example: AccessExample, lacking: AuthorizationModel, having: AuthorizationModel): boolean {
  const tuples = stored(example)
  const objects = [...new Set([example.object, ...objectsOf(tuples)])]
  const differs = (some: readonly TupleKey[]) =>
    has(having, some, objects, example) && !has(lacking, some, objects, example)
  return differs(tuples) && tuples.every((_, at) => !differs(tuples.filter((__, other) => other !== at)))
}

/** Somebody of a random store who has a relation in `having` only. */
function refutation(
  { tuples, objects }: RandomWorld,
  relation: string,
  lacking: AuthorizationModel,
  having: AuthorizationModel,
) {
  const [type, name = ""] = relation.split("#")
  for (const user of ["user:0", "user:1", "robot:0", "user:stranger"])
    for (const object of objects.filter((each) => each.startsWith(`${type}:`)))
      if (
        has(having, tuples, objects, { user, relation: name, object }) &&
        !has(lacking, tuples, objects, { user, relation: name, object })
      )
        return `${user} ${name} ${object}: ${JSON.stringify(tuples)}`
  return undefined
}

test(`examples are confirmed, and nothing refutes what was shown (${worlds} pairs of models)`, (context) => {
  const counts = { examples: 0, proved: 0, bounded: 0, unknown: 0, sets: 0 }
  for (let at = 0; at < worlds; at += 1) {
    const seed = firstSeed + at
    const random = new Random(seed)
    const world = randomWorld(random)
    const after = withAnother(world.model, randomWorld(random).model, random)
    const meanings = compareRelations(lowerModel(world.model), lowerModel(after), { stepsMax: 20_000 })
    for (const meaning of meanings) judge(meaning, { seed, random, world, after }, counts)
    const pair = pairOf(lowerModel(world.model), lowerModel(after))
    for (const { relation } of meanings) {
      const { gain, loss } = setExamples(pair, relation, { stepsMax: 5_000 })
      for (const [example, lacking, having] of [
        [gain, world.model, after],
        [loss, after, world.model],
      ] as const) {
        if (example === undefined) continue
        counts.sets += 1
        const where = `seed ${seed}: ${relation} ${JSON.stringify(example)}`
        expect(confirm(example, lacking, having), where).toBe(true)
      }
    }
  }
  tellAsked(context, counts)
  expect(Math.min(counts.examples, counts.proved, counts.sets)).toBeGreaterThan(worlds / 5)
})

function judge(
  { relation, gain, loss, shown }: RelationMeaning,
  {
    seed,
    random,
    world,
    after,
  }: { seed: number; random: Random; world: RandomWorld; after: AuthorizationModel },
  counts: { examples: number; proved: number; bounded: number; unknown: number },
): void {
  const directions = [
    [gain, world.model, after],
    [loss, after, world.model],
  ] as const
  for (const [example, lacking, having] of directions) {
    if (example !== undefined) {
      counts.examples += 1
      expect(confirm(example, lacking, having), `seed ${seed}: ${relation} ${JSON.stringify(example)}`).toBe(
        true,
      )
    } else if (shown === "proved") {
      counts.proved += 1
      for (let store = 0; store < storesPerProof; store += 1) {
        const other = { ...randomWorld(random), ...(store === 0 ? world : {}) }
        expect(refutation(other, relation, lacking, having), `seed ${seed}: ${relation}`).toBeUndefined()
      }
    } else if (typeof shown === "object") counts.bounded += 1
    else counts.unknown += 1
  }
}
