import { expect, test } from "vitest"
import { batchCheck } from "../../runtime/check/batch-check.ts"
import type { Engine } from "../../runtime/check/engine.ts"
import { expand } from "../../runtime/check/expand.ts"
import { listObjects, streamObjects } from "../../runtime/check/list-objects.ts"
import { listRelations } from "../../runtime/check/list-relations.ts"
import { listUsers, type PackedUsers, packedUsers } from "../../runtime/check/list-users.ts"
import { namesOf, plainForm } from "../../runtime/check/lists/packed-json.ts"
import { type LoadedModel, loadModel } from "../../runtime/check/loaded-model.ts"
import { matrix } from "../../runtime/check/matrix.ts"
import { CheckError, type TupleKey } from "../../runtime/check/ports.ts"
import type { Circumstances, ListEnd, ListUsersAnswer, Paging } from "../../runtime/check/questions.ts"
import type { EngineWork } from "../../runtime/check/work.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { error, NaiveEvaluator, no, type Truth, yes } from "../naive/evaluator.ts"
import { naiveObjects, naiveTree, naiveUsers } from "../naive/lists.ts"
import { Random } from "../naive/random.ts"
import { judgeWith, type RandomWorld, randomContext, randomWorld } from "../naive/worlds.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { MemorySource } from "./memory-source.ts"
import { counting, engineFor, prepare, randomContextual, type Way, ways } from "./random-engine.ts"
import { storedTuples } from "./stored-tuples.ts"

const questions = scaled(2_000, 0.4)

const usersPerRound = 8
const hosts = ["group", "folder", "doc"]
const relations = ["a", "b", "c", "d"]

/** One world under some circumstances, and one engine that holds it. */
interface Asked {
  readonly seed: number
  readonly random: Random
  readonly world: RandomWorld
  readonly model: LoadedModel
  readonly engine: Engine
  readonly way: Way
  readonly tuples: readonly TupleKey[]
  readonly given: Circumstances
  readonly judge: ReturnType<typeof judgeWith>
}

const told = (value: Truth): unknown => (value === error ? "error" : value === yes)

const toldOf = (outcome: unknown): unknown => {
  if (!(outcome instanceof CheckError)) return outcome
  if (outcome.code === "authorization_model_resolution_too_complex") return "too-complex"
  return outcome.code === "validation_error" ? "error" : outcome.code
}

/** The answer, or what kind of error. */
async function ask<Answer>({ engine }: Asked, work: EngineWork<Answer>): Promise<Answer | string> {
  try {
    return await engine.ask("store", work)
  } catch (fault) {
    if (!(fault instanceof CheckError)) throw fault
    return toldOf(fault) as string
  }
}

/** All of a list: at once, or page by page, which must be in order and never too long. */
async function whole<Answer extends ListEnd>(
  asked: Asked,
  ofPage: (paging: Paging) => EngineWork<Answer>,
  itemsOf: (answer: Answer) => readonly (readonly string[])[],
): Promise<readonly (readonly string[])[] | string> {
  const pageSize = asked.random.chance(50) ? undefined : 1 + asked.random.below(3)
  const all: string[][] = []
  let after: string | undefined
  do {
    const answer = await ask(asked, ofPage({ pageSize, after }))
    if (typeof answer === "string") return answer
    const columns = itemsOf(answer)
    const items = columns.flat()
    if (pageSize !== undefined) {
      expect(items.length).toBeLessThanOrEqual(pageSize)
      for (const item of items) if (after !== undefined) expect(item > after).toBe(true)
      for (const column of columns) expect(column).toEqual([...column].sort())
    }
    columns.forEach((column, at) => {
      all[at] = [...(all[at] ?? []), ...column]
    })
    after = answer.next
    expect(answer.truncated).toBe(undefined)
  } while (after !== undefined)
  return all.map((column) => column.sort())
}

/** A depth limit may cost the answer, but it never changes it. */
function compare(asked: Asked, question: string, actual: unknown, expected: unknown): void {
  const shallow = asked.way.options.depthMax === 2
  const matches = (one: unknown, other: unknown): boolean => {
    if (shallow && one === "too-complex") return true
    if (Array.isArray(one) && Array.isArray(other))
      return one.length === other.length && one.every((item, at) => matches(item, other[at]))
    return JSON.stringify(one) === JSON.stringify(other)
  }
  if (matches(actual, expected)) return
  expect.fail(
    `seed ${asked.seed} (${asked.way.name}): ${question} is ${JSON.stringify(actual)}, should be ${JSON.stringify(expected)}\n` +
      `given ${JSON.stringify(asked.given)}\ntuples ${JSON.stringify(asked.tuples)}\nmodel ${JSON.stringify(asked.world.model)}`,
  )
}

async function objects(asked: Asked, user: string, values: ReadonlyMap<string, Truth>): Promise<void> {
  const { model, engine, random, given } = asked
  const request = { user, type: random.pick(hosts), relation: random.pick(relations), ...given }
  const expected = naiveObjects(values, request.type, request.relation)
  const question = `objects(${user}, ${request.relation}, ${request.type})`
  if (random.chance(30)) {
    // The second comes from what was kept of the first, where nothing came with the question.
    for (const which of ["first", "second"]) {
      const stream = await ask(asked, streamObjects(model, request, engine.bounds))
      const found = typeof stream === "string" ? stream : [[...stream.batches()].flat().sort()]
      compare(asked, `${which} stream ${question}`, found, expected === undefined ? "error" : [expected])
    }
    return
  }
  const actual = await whole(
    asked,
    (paging) => listObjects(model, { ...request, ...paging }, engine.bounds),
    (answer) => [answer.objects],
  )
  compare(asked, question, actual, expected === undefined ? "error" : [expected])
}

function itemsIn(items: readonly (string | Uint8Array)[]): string[] {
  const packed = items.filter((item) => typeof item !== "string")
  return packed.length > 0 ? [...namesOf(packed)].flat() : (items as string[])
}

async function users(asked: Asked): Promise<void> {
  const { model, engine, random, given, world } = asked
  const object = random.pick(world.objects)
  const relation = random.pick(relations)
  const filter = random.pick([
    { type: "user" },
    { type: "user" },
    { type: "robot" },
    { type: random.pick(hosts), relation: random.pick(relations) },
    { type: random.pick(hosts) },
  ])
  const request = { object, relation, filter, ...given }
  const packed = random.chance(30)
  const ofPage = (paging: Paging) =>
    packed
      ? packedUsers(model, { ...request, ...paging }, engine.bounds, plainForm)
      : listUsers(model, { ...request, ...paging }, engine.bounds)
  const itemsOf = ({ users, excluded }: ListUsersAnswer | PackedUsers) => [itemsIn(users), itemsIn(excluded)]
  if (packed) await whole<ListUsersAnswer | PackedUsers>(asked, ofPage, itemsOf)
  const actual = await whole<ListUsersAnswer | PackedUsers>(asked, ofPage, itemsOf)
  const naive = { ...asked, model: world.model, objects: world.objects }
  const own = "relation" in filter ? filter.relation : undefined
  const expected = naiveUsers(naive, object, relation, filter.type, own)
  const question = `users(${object}, ${relation}, ${JSON.stringify(filter)})`
  compare(asked, question, actual, expected === undefined ? "error" : [expected.users, expected.excluded])
}

async function relationsOf(asked: Asked, user: string, values: ReadonlyMap<string, Truth>): Promise<void> {
  const { model, engine, random, given, world } = asked
  const object = random.pick(world.objects)
  const actual = await ask(asked, listRelations(model, { user, object, ...given }, engine.bounds))
  if (typeof actual === "string") return compare(asked, `relations(${user}, ${object})`, actual, [])
  for (const relation of ["parent", ...relations]) {
    const problem = actual.errors.find((one) => one.relation === relation)
    const outcome = problem === undefined ? actual.relations.includes(relation) : toldOf(problem.error)
    const expected = told(values.get(`${object}#${relation}`) ?? no)
    compare(asked, `relation ${relation} of relations(${user}, ${object})`, outcome, expected)
  }
}

async function batch(asked: Asked, valuesOf: (user: string) => ReadonlyMap<string, Truth>): Promise<void> {
  const { model, engine, random, given, world } = asked
  const items = Array.from({ length: 1 + random.below(8) }, () => ({
    user: random.pick(world.users),
    relation: random.pick(relations),
    object: random.pick(world.objects),
    ...given,
  }))
  const actual = await ask(asked, batchCheck(model, items, engine.bounds))
  const outcomes =
    typeof actual === "string"
      ? actual
      : actual.results.map((result) => (result instanceof CheckError ? toldOf(result) : result.allowed))
  const expected = items.map(({ user, object, relation }) =>
    told(valuesOf(user).get(`${object}#${relation}`) ?? no),
  )
  compare(asked, `batch ${JSON.stringify(items)}`, outcomes, expected)
}

async function cells(asked: Asked, valuesOf: (user: string) => ReadonlyMap<string, Truth>): Promise<void> {
  const { model, engine, random, given, world } = asked
  const request = {
    users: world.users.slice(random.below(3)),
    relations: relations.slice(random.below(3)),
    objects: world.objects.slice(random.below(3)),
    ...given,
  }
  const actual = await ask(asked, matrix(model, request, engine.bounds))
  const outcomes =
    typeof actual === "string" ? actual : actual.cells.map((row) => row.map((column) => column.map(toldOf)))
  const expected = request.users.map((user) =>
    request.relations.map((relation) =>
      request.objects.map((object) => told(valuesOf(user).get(`${object}#${relation}`) ?? no)),
    ),
  )
  compare(asked, "matrix", outcomes, expected)
}

async function tree(asked: Asked): Promise<void> {
  const { model, engine, random, given, world } = asked
  const request = { object: random.pick(world.objects), relation: random.pick(relations), ...given }
  const actual = await ask(asked, expand(model, request, engine.bounds))
  const naive = { ...asked, model: world.model, objects: world.objects }
  const expected = naiveTree(naive, request.object, request.relation)
  compare(
    asked,
    `expand(${request.object}, ${request.relation})`,
    typeof actual === "string" ? actual : actual.root,
    expected,
  )
}

/** One world, asked about under several circumstances; returns how many lists were compared, and how often something kept served. */
async function runWorld(seed: number): Promise<{ compared: number; kept: number }> {
  const random = new Random(seed)
  const world = randomWorld(random, random.pick([12, 40, 80]))
  const model = loadModel(lowerModel(world.model))
  const source = new MemorySource()
  const way = ways[seed % ways.length] as Way
  source.rowsPerTurn = way.rowsPerTurn
  const engine = engineFor(source, way)
  await prepare(random, world, source, engine, model)
  await engine.ask("store", expand(model, { object: world.objects[0] ?? "", relation: "a" }, engine.bounds), {
    consistency: "higher-consistency",
  })
  const stored = storedTuples(source)
  let compared = 0
  for (let round = 0; round < 2; round++) {
    const brought = {
      contextualTuples: randomContextual(random, world, model),
      context: randomContext(random),
    }
    const given: Partial<typeof brought> = random.chance(50) ? brought : {}
    const tuples = counting(stored, given.contextualTuples ?? [])
    const judge = judgeWith(given.context ?? {}, false)
    const solved = new Map<string, ReadonlyMap<string, Truth>>()
    const valuesOf = (user: string) => {
      const known = solved.get(user)
      const values = known ?? new NaiveEvaluator(world.model, tuples, world.objects, user, judge).solve()
      solved.set(user, values)
      return values
    }
    const asked: Asked = { seed, random, world, model, engine, way, tuples, given, judge }
    for (const user of world.users) {
      await objects(asked, user, valuesOf(user))
      await objects(asked, user, valuesOf(user))
    }
    for (let at = 0; at < usersPerRound; at++) await users(asked)
    const user = random.pick(world.users)
    await relationsOf(asked, user, valuesOf(user))
    await batch(asked, valuesOf)
    await cells(asked, valuesOf)
    await tree(asked)
    compared += 2 * world.users.length + usersPerRound + 4
  }
  engine.close()
  return { compared, kept: engine.keptHits }
}

test(`agrees with the naive evaluator on ${questions} random lists`, {
  timeout: 3_600_000,
}, async (context) => {
  let compared = 0
  let kept = 0
  for (let seed = firstSeed; compared < questions; seed++) {
    const world = await runWorld(seed)
    compared += world.compared
    kept += world.kept
  }
  expect(compared).toBeGreaterThanOrEqual(questions)
  expect(kept).toBeGreaterThan(questions / 20)
  tellAsked(context, { "lists, batches, matrices and trees": compared, "answers and walks kept": kept })
})
