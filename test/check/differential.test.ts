import { expect, test } from "vitest"
import type { Engine } from "../../runtime/check/engine.ts"
import { type LoadedModel, loadModel } from "../../runtime/check/loaded-model.ts"
import { CheckError, type CheckRequest } from "../../runtime/check/ports.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { error, NaiveEvaluator, no, type Truth, yes } from "../naive/evaluator.ts"
import { Random } from "../naive/random.ts"
import { judgeWith, randomContext, randomWorld } from "../naive/worlds.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { MemorySource } from "./memory-source.ts"
import { counting, engineFor, prepare, randomContextual, type Way, ways } from "./random-engine.ts"
import { storedTuples } from "./stored-tuples.ts"

const queries = scaled(10_000, 0.5)
const queriesPerUser = 6

type Outcome = "allow" | "deny" | "error" | "too-complex"

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

/** One world, all its users; returns how many questions were compared. */
async function runWorld(seed: number): Promise<number> {
  const random = new Random(seed)
  const world = randomWorld(random)
  const model = loadModel(lowerModel(world.model))
  const source = new MemorySource()
  const way = ways[seed % ways.length] as Way
  source.rowsPerTurn = way.rowsPerTurn
  const engine = engineFor(source, way)
  await prepare(random, world, source, engine, model)
  const stored = storedTuples(source)
  let compared = 0
  for (const user of world.users) {
    const contextual = randomContextual(random, world, model)
    const context = randomContext(random)
    const tuples = counting(stored, contextual)
    const naive = new NaiveEvaluator(world.model, tuples, world.objects, user, judgeWith(context, false))
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

test(`agrees with the naive evaluator on ${queries} random questions`, {
  timeout: 3_600_000,
}, async (context) => {
  let compared = 0
  for (let seed = firstSeed; compared < queries; seed++) compared += await runWorld(seed)
  expect(compared).toBeGreaterThanOrEqual(queries)
  tellAsked(context, { checks: compared })
})
