import { afterAll, beforeAll, expect, test } from "vitest"
import { loadModel } from "../../runtime/check/loaded-model.ts"
import { validateTuple } from "../../runtime/check/tuple.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import type { AuthorizationModel, ModelPlan } from "../../runtime/plan/authorization-model.ts"
import { digestOf } from "../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Database } from "../../runtime/store/database.ts"
import { declareStores } from "../../runtime/store/plans.ts"
import { serve } from "../authz/harness.ts"
import { NaiveEvaluator, yes } from "../naive/evaluator.ts"
import { type NaiveWorld, naiveObjects, naiveUsers } from "../naive/lists.ts"
import { Random } from "../naive/random.ts"
import { judgeWith, type RandomWorld, randomContext, randomWorld } from "../naive/worlds.ts"
import { openTestDatabase } from "../store/databases.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"

/** Worlds asked by HTTP. */
const worlds = scaled(10, 0.4)

/** The worlds' conditions read `x`, `p` and `q`; here they are properties. */
const propertyOf: Readonly<Record<string, string>> = { x: "subject_x", p: "resource_p", q: "action_q" }
const properties = { subject: "x", resource: "p", action: "q" } as const
/** What a property that is not there is. */
const absent = { x: 0, p: false, q: false }

/** A world with the store that has its model. */
interface Prepared {
  readonly seed: number
  readonly random: Random
  readonly world: RandomWorld
  readonly plan: ModelPlan
}

let database: Database
let served: Awaited<ReturnType<typeof serve>>
const prepared: Prepared[] = []
beforeAll(async () => {
  database = await openTestDatabase()
  const plans = new Map<string, ModelPlan>()
  served = await serve(database, undefined, { planModel: (digest) => plans.get(digest) })
  // Many of these models are none the API would take: here they come with a plan.
  const stores: Record<string, { model: string }> = {}
  for (let seed = firstSeed; seed < firstSeed + worlds; seed += 1) {
    const random = new Random(seed)
    const world = randomWorld(random)
    const plan = lowerModel(modelOf(world))
    const digest = digestOf(plan.model)
    plans.set(digest, plan)
    stores[`w${seed}`] = { model: digest }
    prepared.push({ seed, random, world, plan })
  }
  const body = { authz: { stores }, models: Object.fromEntries(plans) } as unknown as PlanBody
  await declareStores(database, body)
}, 600_000)
afterAll(async () => {
  await served.listeners.close()
  await database.close()
})

const renamed = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [propertyOf[name] ?? name, value]))

function modelOf(world: RandomWorld): AuthorizationModel {
  const conditions = Object.entries(world.model.conditions ?? {}).map(([name, condition]) => [
    name,
    {
      ...condition,
      expression: condition.expression.replace(/\b[xpq]\b/g, (parameter) => propertyOf[parameter] ?? ""),
      parameters: renamed(condition.parameters ?? {}),
    },
  ])
  return { ...world.model, conditions: Object.fromEntries(conditions) }
}

/** Type and id, with the property that entities of this kind bring. */
function entity(kind: "subject" | "resource", name: string, context: Record<string, unknown>): object {
  const [type, id] = name.split(":")
  const key = properties[kind]
  return { type, ...(id === undefined ? {} : { id }), ...propertiesOf(key, context) }
}

function propertiesOf(key: string, context: Record<string, unknown>): object {
  return key in context ? { properties: { [key]: context[key] } } : {}
}

const nameOf = ({ type, id }: { type: string; id: string }) => `${type}:${id}`

/** What is compared: the world as the naive evaluator sees it, and the store that holds it. */
interface Judged {
  readonly naive: NaiveWorld
  /** What an action search knows: nothing of the action. */
  readonly bare: NaiveWorld
  readonly context: Record<string, unknown>
  readonly base: string
  readonly random: Random
}

/** Writes a world's tuples, as far as the API takes them; undefined when it takes them not at all (the same tuple under two conditions). */
async function fill({ seed, random, world, plan }: Prepared): Promise<Judged | undefined> {
  const loaded = loadModel(plan)
  const allowed = world.tuples
    .map((tuple) =>
      tuple.condition === undefined
        ? tuple
        : { ...tuple, condition: { ...tuple.condition, context: renamed(tuple.condition.context ?? {}) } },
    )
    .filter((tuple) => validateTuple(loaded, tuple) === undefined)
    .filter(({ user, object, relation }) => user !== `${object}#${relation}`)
  const writes = { tuple_keys: allowed, on_duplicate: "ignore" }
  if (allowed.length > 0 && (await served.call("POST", `/stores/w${seed}/write`, { writes })).status !== 200)
    return undefined
  const context = randomContext(random)
  const tuples = allowed.map((tuple) => ({
    ...tuple,
    condition: tuple.condition && { name: tuple.condition.name, context: plain(tuple.condition.context) },
  }))
  const { model, objects } = world
  const under = (given: object): NaiveWorld => ({
    model,
    tuples,
    objects,
    judge: judgeWith({ ...absent, ...given }, true),
  })
  const base = `/stores/w${seed}/access/v1`
  return { naive: under(context), bare: under({ ...context, q: false }), context, base, random }
}

const relations = ["a", "b", "c", "d"]

function solve({ model, tuples, objects, judge }: NaiveWorld, user: string): ReadonlyMap<string, number> {
  return new NaiveEvaluator(model, tuples, objects, user, judge).solve()
}

/** Asks everything there is to ask about one world; answers how many decisions were compared. */
async function judge(prepared: Prepared): Promise<number> {
  const judged = await fill(prepared)
  if (judged === undefined) return 0
  let compared = 0
  for (const user of prepared.world.users.filter((each) => !each.includes("#"))) {
    compared += (await judgeBatch(judged, user)) + (await judgeSearches(judged, user))
  }
  return compared
}

async function judgeBatch({ naive, context, base }: Judged, user: string): Promise<number> {
  const questions = naive.objects
    .slice(0, 10)
    .flatMap((object) => relations.map((relation) => ({ object, relation })))
  const evaluations = questions.map(({ object, relation }) => ({
    resource: entity("resource", object, context),
    action: { name: relation, ...propertiesOf("q", context) },
  }))
  const subject = entity("subject", user, context)
  const { text, json } = await served.call("POST", `${base}/evaluations`, { subject, evaluations })
  if (isTooDeep(text)) return 0
  const values = solve(naive, user)
  expect(json.evaluations.map(({ decision }: { decision: boolean }) => decision)).toEqual(
    questions.map(({ object, relation }) => values.get(`${object}#${relation}`) === yes),
  )
  return questions.length
}

async function judgeSearches({ naive, bare, context, base, random }: Judged, user: string): Promise<number> {
  const object = random.pick(naive.objects)
  const relation = random.pick(relations)
  const type = object.split(":")[0] ?? ""
  const subject = entity("subject", user, context)
  const action = { name: relation, ...propertiesOf("q", context) }
  const resource = entity("resource", object, context)
  const search = (kind: string, body: object) => served.call("POST", `${base}/search/${kind}`, body)
  const objects = await search("resource", { subject, action, resource: entity("resource", type, context) })
  const users = await search("subject", { subject: entity("subject", "user", context), action, resource })
  if (isTooDeep(objects.text) || isTooDeep(users.text)) return 0
  expect(objects.json.results.map(nameOf).sort()).toEqual(naiveObjects(solve(naive, user), type, relation))
  const listed = naiveUsers(naive, object, relation, "user", undefined)
  if (listed !== undefined) {
    expect(users.json.results.map(nameOf).sort()).toEqual([...listed.users].sort())
    expect((users.json.context?.excluded ?? []).map(nameOf).sort()).toEqual([...listed.excluded].sort())
  }
  const { json } = await search("action", { subject, resource })
  const names = json.results.map(({ name }: { name: string }) => name)
  const values = solve(bare, user)
  expect(names.filter((name: string) => name !== "parent")).toEqual(
    relations.filter((name) => values.get(`${object}#${name}`) === yes),
  )
  return 3
}

const isTooDeep = (text: string) => text.includes("authorization_model_resolution_too_complex")

/** The stored context by the names the naive evaluator knows. */
function plain(context: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
  const names = Object.fromEntries(Object.entries(propertyOf).map(([name, property]) => [property, name]))
  return Object.fromEntries(
    Object.entries(context ?? {}).map(([name, value]) => [names[name] ?? name, value]),
  )
}

test("random worlds: evaluations and searches are what the plain semantics say", async (context) => {
  let compared = 0
  let asked = 0
  for (const each of prepared) {
    try {
      const found = await judge(each)
      compared += found
      if (found > 0) asked += 1
    } catch (error) {
      throw new Error(`SALLYPORT_TEST_SEED=${each.seed}: ${(error as Error).message}`, { cause: error })
    }
  }
  expect(asked).toBeGreaterThan(worlds / 4)
  expect(compared).toBeGreaterThan(worlds * 10)
  tellAsked(context, { "decisions and searches": compared })
}, 3_600_000)
