import { expect, test } from "vitest"
import { Engine, type EngineOptions } from "../../runtime/check/engine.ts"
import { type LoadedModel, loadModel } from "../../runtime/check/loaded-model.ts"
import { CheckError, type CheckRequest, type TupleKey } from "../../runtime/check/ports.ts"
import { validateTuple } from "../../runtime/check/tuple.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { error, NaiveEvaluator, no, type Truth, yes } from "../naive/evaluator.ts"
import { Random } from "../naive/random.ts"
import { judgeWith, type RandomWorld, randomContext, randomTuple, randomWorld } from "../naive/worlds.ts"
import { MemorySource } from "./memory-source.ts"
import { storedTuples } from "./stored-tuples.ts"

/** Raise for a long run: `SALLYPORT_TEST_QUERIES=5000000`; a failure prints its seed, `SALLYPORT_TEST_SEED` starts there. */
const queries = Number(process.env["SALLYPORT_TEST_QUERIES"] ?? 100_000)
const firstSeed = Number(process.env["SALLYPORT_TEST_SEED"] ?? 1)
const queriesPerUser = 6

type Outcome = "allow" | "deny" | "error" | "too-complex"

/** How the engine is asked; each world is asked in one of these ways. */
const ways: { name: string; options: EngineOptions; slow?: boolean; rowsPerTurn?: number }[] = [
  { name: "whole graph", options: { depthMax: Number.POSITIVE_INFINITY, partialConditions: true } },
  { name: "whole graph, always searching", options: { depthMax: Number.POSITIVE_INFINITY, walkSteps: 0 } },
  { name: "whole graph, shallow", options: { depthMax: 2 } },
  { name: "whole graph, shallow, always searching", options: { depthMax: 2, walkSteps: 0 } },
  { name: "pages", options: { depthMax: Number.POSITIVE_INFINITY, paged: true } },
  {
    name: "few pages, always searching",
    options: {
      depthMax: Number.POSITIVE_INFINITY,
      walkSteps: 0,
      paged: true,
      memoryBytes: 40_000,
      partialConditions: true,
    },
  },
  { name: "cold", options: { depthMax: Number.POSITIVE_INFINITY, coldMs: 0 }, rowsPerTurn: 1 },
  { name: "one step a turn", options: { depthMax: Number.POSITIVE_INFINITY, stepsPerLook: 1 }, slow: true },
]

async function ask(engine: Engine, model: LoadedModel, request: CheckRequest): Promise<Outcome> {
  try {
    const answer = await engine.check("store", model, request)
    return answer.allowed ? "allow" : "deny"
  } catch (fault) {
    if (!(fault instanceof CheckError)) throw fault
    if (fault.code === "validation_error") return "error"
    if (fault.code === "authorization_model_resolution_too_complex") return "too-complex"
    throw fault
  }
}

function outcomeOf(value: Truth): Outcome {
  return value === yes ? "allow" : value === error ? "error" : "deny"
}

function engineFor(source: MemorySource, way: (typeof ways)[number]): Engine {
  let clock = 0
  // With a clock that jumps, every look ends the turn: evaluations are suspended everywhere.
  const now = way.slow === true ? () => (clock += 10) : undefined
  return new Engine(source, {
    pollMs: 0,
    deadlineMs: 1e12,
    ...way.options,
    ...(now === undefined ? {} : { now }),
  })
}

/** Some tuples of the world stored in the first place, others written and deleted while questions are asked. */
async function prepare(
  random: Random,
  world: RandomWorld,
  source: MemorySource,
  engine: Engine,
  model: LoadedModel,
) {
  const shuffled = world.tuples.filter(() => random.chance(85))
  const early = shuffled.filter(() => random.chance(60))
  if (early.length > 0) source.write(...early)
  await ask(engine, model, { user: "user:0", relation: "a", object: world.objects[0] ?? "" })
  for (const tuple of shuffled.filter((candidate) => !early.includes(candidate))) {
    const changes = source.write(tuple)
    if (random.chance(70)) engine.applied("store", changes)
    if (random.chance(30)) {
      const other = randomTuple(random, world.model, world.objects)
      if (other !== undefined)
        engine.applied("store", random.chance(40) ? source.delete(other) : source.write(other))
    }
    if (random.chance(20)) engine.applied("store", source.delete(tuple))
    if (random.chance(10))
      await ask(engine, model, {
        user: "user:1",
        relation: random.pick(["a", "b"]),
        object: random.pick(world.objects),
      })
  }
}

function randomContextual(random: Random, world: RandomWorld, model: LoadedModel): TupleKey[] {
  const found = new Map<string, TupleKey>()
  for (let at = random.chance(40) ? random.below(6) : 0; at > 0; at--) {
    const tuple = random.chance(30)
      ? random.pick(world.tuples.length > 0 ? world.tuples : [undefined])
      : randomTuple(random, world.model, world.objects)
    if (tuple !== undefined && validateTuple(model, tuple) === undefined)
      found.set(`${tuple.object}#${tuple.relation}@${tuple.user}`, tuple)
  }
  return [...found.values()]
}

/** One world, all its users; returns how many questions were compared. */
async function runWorld(seed: number): Promise<number> {
  const random = new Random(seed)
  const world = randomWorld(random)
  const model = loadModel(lowerModel(world.model))
  const source = new MemorySource()
  const way = ways[seed % ways.length] as (typeof ways)[number]
  source.rowsPerTurn = way.rowsPerTurn
  const engine = engineFor(source, way)
  await prepare(random, world, source, engine, model)
  const stored = storedTuples(source)
  let compared = 0
  for (const user of world.users) {
    const contextual = randomContextual(random, world, model)
    const context = randomContext(random)
    const keyOf = ({ object, relation, user: subject }: TupleKey) => `${object}#${relation}@${subject}`
    const shadowed = new Set(contextual.map(keyOf))
    const tuples = [...stored.filter((tuple) => !shadowed.has(keyOf(tuple))), ...contextual]
    const naive = new NaiveEvaluator(
      world.model,
      tuples,
      world.objects,
      user,
      judgeWith(context, way.options.partialConditions === true),
    )
    const values = naive.solve()
    const nodes = [...values.keys()]
    const notDenied = nodes.filter((node) => values.get(node) !== no)
    for (let at = 0; at < queriesPerUser; at++) {
      // Most things are denied in most worlds: half of the questions are about the others.
      const node = random.pick(notDenied.length > 0 && random.chance(50) ? notDenied : nodes)
      const [object = "", relation = ""] = node.split("#")
      const request: CheckRequest = {
        user,
        relation,
        object,
        context,
        contextualTuples: contextual,
        consistency: at === 0 ? "higher-consistency" : undefined,
        explain: random.chance(10),
      }
      const expected = outcomeOf(values.get(node) as Truth)
      const actual = await ask(engine, model, request)
      compared++
      if (actual === expected) continue
      // A depth limit may cost the answer, but only where there is depth, and it never changes the answer.
      if (actual === "too-complex" && way.options.depthMax === 2 && naive.leadsBeyond(node, 3)) continue
      expect.fail(
        `seed ${seed} (${way.name}): check(${user}, ${relation}, ${object}) is ${actual}, should be ${expected}\n` +
          `context ${JSON.stringify(context)}\ncontextual ${JSON.stringify(contextual)}\n` +
          `tuples ${JSON.stringify(stored)}\nmodel ${JSON.stringify(world.model)}`,
      )
    }
  }
  engine.close()
  return compared
}

test(`agrees with the naive evaluator on ${queries} random questions`, { timeout: 3_600_000 }, async () => {
  let compared = 0
  for (let seed = firstSeed; compared < queries; seed++) compared += await runWorld(seed)
  expect(compared).toBeGreaterThanOrEqual(queries)
})
