import { expect } from "vitest"
import type { Engine } from "../../runtime/check/engine.ts"
import { listUsers } from "../../runtime/check/list-users.ts"
import { type LoadedModel, loadModel } from "../../runtime/check/loaded-model.ts"
import { CheckError, type TupleKey } from "../../runtime/check/ports.ts"
import type { Circumstances, ListUsersRequest } from "../../runtime/check/questions.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { Random } from "../naive/random.ts"
import { type RandomWorld, randomContext, randomWorld } from "../naive/worlds.ts"
import { firstSeed } from "../support/random-run.ts"
import { MemorySource } from "./memory-source.ts"
import { engineFor, prepare, randomContextual, type Way, ways } from "./random-engine.ts"
import { storedTuples } from "./stored-tuples.ts"

const listsPerWorld = 12

const hosts = ["group", "folder", "doc"]
const relations = ["a", "b", "c", "d"]

interface Asked {
  readonly seed: number
  readonly way: Way
  readonly engine: Engine
  readonly model: LoadedModel
  readonly world: RandomWorld
  readonly tuples: readonly TupleKey[]
}

interface Counts {
  lists: number
  checks: number
  errors: number
  /** Lists without the wildcard on which somebody stands whom only a wildcard lets in. */
  byWildcard: number
}

async function tried<Answer>(work: () => Answer | Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await work()
  } catch (fault) {
    if (fault instanceof CheckError) return undefined
    throw fault
  }
}

/** The list, at once or by pages; undefined for an error. */
async function listed({ engine, model }: Asked, request: ListUsersRequest, pageSize: number | undefined) {
  const users = new Set<string>()
  const excluded = new Set<string>()
  for (let after: string | undefined, more = true; more; more = after !== undefined) {
    const work = listUsers(model, { ...request, pageSize, after }, engine.bounds)
    const page = await tried(() => engine.ask("store", work))
    if (page === undefined) return undefined
    for (const user of page.users) users.add(user)
    for (const user of page.excluded) excluded.add(user)
    after = page.next
  }
  return { users, excluded }
}

/** Everybody of a kind that a tuple or the world names, and a stranger. */
function everybody({ tuples, world }: Asked, { type, relation }: ListUsersRequest["filter"]): string[] {
  const names = [
    ...tuples.flatMap(({ user, object }) => [user.split("#")[0] ?? "", object]),
    ...world.objects,
    `${type}:stranger`,
  ]
  const own = new Set(names.filter((name) => name.startsWith(`${type}:`) && !name.endsWith(":*")))
  return [...own].map((name) => (relation === undefined ? name : `${name}#${relation}`))
}

/** Whom the list covers is whom the check allows. */
async function compare(
  asked: Asked,
  request: ListUsersRequest,
  pageSize: number | undefined,
  counts: Counts,
): Promise<void> {
  const { engine, model } = asked
  const { filter, ...circumstances } = request
  const list = await listed(asked, request, pageSize)
  counts.lists++
  if (list === undefined) {
    counts.errors++
    return
  }
  const general = list.users.has(`${filter.type}:*`)
  for (const user of everybody(asked, filter)) {
    const answer = await tried(() => engine.check("store", model, { ...circumstances, user }))
    const covered: boolean = list.users.has(user) || (general && !list.excluded.has(user))
    counts.checks++
    if (answer?.allowed === covered) continue
    expect.fail(
      `seed ${asked.seed} (${asked.way.name}): check(${user}) is ${answer?.allowed ?? "an error"}, but list-users ${JSON.stringify(request)} gives ` +
        `${JSON.stringify({ users: [...list.users], excluded: [...list.excluded] })}\n` +
        `tuples ${JSON.stringify(asked.tuples)}\nmodel ${JSON.stringify(asked.world.model)}`,
    )
  }
  const named = new Set(
    asked.tuples.filter(({ object }) => object === request.object).map(({ user }) => user),
  )
  if (!general && [...list.users].some((user) => !named.has(user))) counts.byWildcard++
}

async function runWorld(seed: number, counts: Counts): Promise<void> {
  const random = new Random(seed)
  // Wildcards under exclusions and intersections of one another.
  const world = randomWorld(random, random.pick([40, 80]), {
    operators: random.pick([35, 60, 80]),
    unions: random.pick([0, 15, 30]),
    conditions: random.pick([0, 0, 0, 15]),
  })
  const model = loadModel(lowerModel(world.model))
  const source = new MemorySource()
  // A limit of depth makes errors of most.
  const deep = ways.filter(({ options }) => options.depthMax !== 2)
  const way = deep[seed % deep.length] as Way
  source.rowsPerTurn = way.rowsPerTurn
  const engine = engineFor(source, way)
  await prepare(random, world, source, engine, model)
  const stored = storedTuples(source)
  for (let at = 0; at < listsPerWorld; at++) {
    const given: Circumstances = random.chance(25)
      ? { contextualTuples: randomContextual(random, world, model), context: randomContext(random) }
      : {}
    const filter = random.pick([
      { type: "user" },
      { type: "user" },
      { type: "user" },
      { type: "robot" },
      { type: random.pick(hosts) },
      { type: random.pick(hosts), relation: random.pick(relations) },
    ])
    const request = { object: random.pick(world.objects), relation: random.pick(relations), filter, ...given }
    const asked = {
      seed,
      way,
      engine,
      model,
      world,
      tuples: [...stored, ...(given.contextualTuples ?? [])],
    }
    await compare(asked, request, random.chance(30) ? 1 + random.below(3) : undefined, counts)
  }
  engine.close()
}

/** Worlds from the first seed on until so many lists were compared with the checks of all who are named and of a stranger. What was done, by kind. */
export async function compareUsersWithChecks(lists: number): Promise<Readonly<Record<string, number>>> {
  const counts: Counts = { lists: 0, checks: 0, errors: 0, byWildcard: 0 }
  let worlds = 0
  for (; counts.lists < lists; worlds++) await runWorld(firstSeed + worlds, counts)
  expect(counts.byWildcard).toBeGreaterThan(lists / 100)
  expect(counts.errors).toBeLessThan(lists / 5)
  return {
    worlds,
    "lists of users": counts.lists,
    "checks beside them": counts.checks,
    "lists of more than the object's own tuples name": counts.byWildcard,
    "lists that are errors": counts.errors,
  }
}
