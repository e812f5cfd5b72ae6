// Three sources that know nothing of each other tell what a change of a model means: `model compare` (for all tuples), the comparison of
// people (for the tuples of a store), and the checks of all users under both models. They have to agree.
import { expect, test } from "vitest"
import { compareRelation, type RelationMeaning } from "../../compiler/model-compare/compare-relations.ts"
import { Confirmation } from "../../compiler/model-compare/confirm.ts"
import { type AccessExample, tupleOf } from "../../compiler/model-compare/example.ts"
import { type LoadedModel, loadModel } from "../../runtime/check/loaded-model.ts"
import type { TupleKey } from "../../runtime/check/ports.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { namesOf, pairOf } from "../../runtime/model/model-pair.ts"
import { accessOf, changeOf, edited, impactOf, told } from "../check/access-difference.ts"
import { Random } from "../naive/random.ts"
import { type RandomWorld, randomWorld } from "../naive/worlds.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"

const cases = scaled(1_000, 0.012)

/** A value for each parameter of the random conditions, so that no access stays undecided. */
const values = { x: 1, p: true, q: true }

const counts = {
  ...{ cases: 0, differences: 0, examples: 0, unrealised: 0 },
  ...{ same: 0, wider: 0, narrower: 0, incomparable: 0, equal: 0, unshown: 0 },
}

interface TwoModels {
  readonly seed: number
  readonly before: LoadedModel
  readonly after: LoadedModel
}

/** Who gains and who loses a relation, as `user object#relation`. */
interface Difference {
  readonly gains: readonly string[]
  readonly losses: readonly string[]
}

/** The difference of all checks, which the comparison of people has to have row by row. */
async function differenceOf(
  { tuples, objects }: Pick<RandomWorld, "tuples" | "objects">,
  { seed, before, after }: TwoModels,
): Promise<Difference> {
  const [old, next] = [
    await accessOf({ tuples, objects }, before, values),
    await accessOf({ tuples, objects }, after, values),
  ]
  const rows = told(impactOf(tuples, before, after, values).rows)
  const gains: string[] = []
  const losses: string[] = []
  for (const cell of new Set([...old.keys(), ...next.keys()])) {
    const [user = "", node = ""] = cell.split(" ")
    const change = changeOf(old.get(cell) ?? false, next.get(cell) ?? false)
    const said = rows.get(cell) ?? rows.get(`${user.split(":")[0]}:* ${node}`) ?? "unchanged"
    if (said !== change) expect.fail(`seed ${seed}: ${cell}: people say ${said}, checks ${change}`)
    if (change === "gains") gains.push(cell)
    if (change === "loses") losses.push(cell)
  }
  counts.differences += gains.length + losses.length
  return { gains, losses }
}

const objectsOf = (tuples: readonly TupleKey[]): string[] => [
  ...new Set(
    tuples
      .flatMap(({ user, object }) => [object, user.split("#")[0] ?? ""])
      .filter((each) => !each.endsWith(":*")),
  ),
]

/** Whether objects lead back to themselves. */
function hasCycle(tuples: readonly TupleKey[]): boolean {
  const left = new Set(tuples.map(({ user, object }) => `${object} ${user.split("#")[0]}`))
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false
    const objects = new Set([...left].map((edge) => edge.split(" ")[0]))
    for (const edge of left)
      if (!objects.has(edge.split(" ")[1])) {
        left.delete(edge)
        isSmaller = true
      }
  }
  return left.size > 0
}

/** Whether no object is used twice, and none leads back to itself. */
function isTree(tuples: readonly TupleKey[]): boolean {
  const used = tuples.map(({ user }) => user.split("#")[0] ?? "").filter((each) => !persons.test(each))
  return new Set(used).size === used.length && !hasCycle(tuples)
}

const persons = /^(user|robot):/

/** Whether what is shown of a relation holds for these tuples. */
function covers({ shown }: RelationMeaning, tuples: readonly TupleKey[]): boolean {
  if (shown === "proved") return true
  if (shown === "without cycles") return !hasCycle(tuples)
  return typeof shown === "object" && tuples.length < shown.fewerThan && isTree(tuples)
}

/** The difference of a store has only what the verdicts allow. */
function expectAllowed(
  { gains, losses }: Difference,
  meanings: ReadonlyMap<string, RelationMeaning | undefined>,
  tuples: readonly TupleKey[],
  where: string,
): void {
  for (const [cells, denied] of [
    [gains, ["same", "narrower"]],
    [losses, ["same", "wider"]],
  ] as const)
    for (const cell of cells) {
      const [, object = "", relation = ""] = /^\S+ ([^:]+):[^#]+#(.+)$/.exec(cell) ?? []
      const name = `${object}#${relation}`
      // Only one of the models has it: nothing is said of its people.
      if (!meanings.has(name)) continue
      const meaning = meanings.get(name)
      const isDenied =
        meaning === undefined || (denied.some((each) => each === meaning.verdict) && covers(meaning, tuples))
      if (isDenied) expect.fail(`${where}: ${cell} differs, but: ${JSON.stringify(meaning)}`)
    }
}

/** The tuples of an example; undefined: no context was found under which the conditions are as it says. */
function stored({ tuples }: AccessExample): TupleKey[] | undefined {
  if (tuples.every(({ condition, context }) => condition === undefined || context !== undefined))
    return tuples.map(tupleOf)
  // The only edit of a condition makes it stricter.
  expect(tuples.some(({ onlyIn }) => onlyIn === "new")).toBe(true)
  return undefined
}

async function expectExample(
  example: AccessExample,
  isGain: boolean,
  models: TwoModels,
): Promise<Difference> {
  const tuples = stored(example)
  if (tuples === undefined) {
    counts.unrealised++
    return { gains: [], losses: [] }
  }
  counts.examples++
  const { relation, object } = example
  // Whom only `user:*` covers is asked by another name.
  const isNamed = tuples.some(({ user }) => user === example.user)
  const user = isNamed ? example.user : `${example.user.split(":")[0]}:stranger`
  const found = await differenceOf({ tuples, objects: [...new Set([object, ...objectsOf(tuples)])] }, models)
  const where = `seed ${models.seed}: ${JSON.stringify(example)}`
  expect(isGain ? found.gains : found.losses, where).toContain(`${user} ${object}#${relation}`)
  return found
}

test(`the comparison of models, that of people and all checks agree (${cases} cases)`, async (context) => {
  for (let at = 0; at < cases; at++) {
    const seed = firstSeed + at
    const random = new Random(seed)
    const world = randomWorld(random, random.pick([0, 12, 40]))
    const plans = [lowerModel(world.model), lowerModel(edited(world.model, random))] as const
    const models = { seed, before: loadModel(plans[0]), after: loadModel(plans[1]) }
    const pair = pairOf(...plans)
    const confirmation = new Confirmation(...plans)
    const meanings = new Map<string, RelationMeaning | undefined>()
    const kept = namesOf(plans[1].relations)
    for (const name of namesOf(plans[0].relations).keys()) {
      if (!kept.has(name)) continue
      const meaning = compareRelation(pair, name, { stepsMax: 20_000 })
      meanings.set(name, meaning === undefined ? undefined : await confirmation.meaning(meaning))
    }
    counts.cases++
    expectAllowed(await differenceOf(world, models), meanings, world.tuples, `seed ${seed}`)
    for (const meaning of meanings.values()) {
      counts[meaning?.verdict ?? "equal"]++
      if (meaning === undefined) continue
      if (meaning.shown !== "proved") counts.unshown++
      for (const [example, isGain] of [
        [meaning.gain, true],
        [meaning.loss, false],
      ] as const) {
        if (example === undefined) continue
        const found = await expectExample(example, isGain, models)
        expectAllowed(found, meanings, stored(example) ?? [], `seed ${seed}: ${JSON.stringify(example)}`)
      }
    }
  }
  tellAsked(context, counts)
  expect(Math.min(counts.same, counts.wider, counts.narrower, counts.incomparable)).toBeGreaterThan(
    cases / 40,
  )
})
