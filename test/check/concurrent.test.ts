import { expect, test } from "vitest"
import { Engine, type EngineOptions } from "../../runtime/check/engine.ts"
import { loadModel } from "../../runtime/check/loaded-model.ts"
import { CheckError, type TupleKey } from "../../runtime/check/ports.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { error, NaiveEvaluator, type Truth, yes } from "../naive/evaluator.ts"
import { Random } from "../naive/random.ts"
import { judgeWith, randomContext, randomTuple, randomWorld } from "../naive/worlds.ts"
import { MemorySource } from "./memory-source.ts"
import { storedTuples } from "./stored-tuples.ts"

const depthMax = Number.POSITIVE_INFINITY
const ways: { name: string; options: EngineOptions; suspends: boolean }[] = [
  { name: "whole graph", options: { depthMax, stepsPerLook: 1 }, suspends: true },
  {
    name: "whole graph, always searching",
    options: { depthMax, stepsPerLook: 1, walkSteps: 0 },
    suspends: true,
  },
  { name: "pages", options: { depthMax, paged: { pagesMax: 400 } }, suspends: false },
  {
    name: "pages, always searching",
    options: { depthMax, stepsPerLook: 1, walkSteps: 0, paged: { pagesMax: 400 } },
    suspends: true,
  },
]

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Questions and writes at the same time; returns how many answers were judged. */
async function runWorld(seed: number): Promise<number> {
  const random = new Random(seed)
  const world = randomWorld(random)
  const model = loadModel(lowerModel(world.model))
  const source = new MemorySource()
  const way = ways[seed % ways.length] as (typeof ways)[number]
  let clock = 0
  const now = way.suspends ? { now: () => (clock += 3) } : {}
  const engine = new Engine(source, { pollMs: 0, deadlineMs: 1e12, ...way.options, ...now })
  const history: TupleKey[][] = [[]]
  const commit = (operation: "write" | "delete", tuple: TupleKey) => {
    const changes = source[operation](tuple)
    history.push(storedTuples(source))
    // Sometimes the write of another process: then the feed brings it.
    if (random.chance(80)) engine.applied("store", changes)
  }
  for (const tuple of world.tuples) commit("write", tuple)
  const judged: Promise<void>[] = []
  for (let at = 0; at < 24; at++) {
    const floor = engine.revision("store") ?? 0
    const user = random.pick(world.users)
    const object = random.pick(world.objects)
    const relation = random.pick(["a", "b", "c", "d"])
    const context = randomContext(random)
    const consistency = random.chance(20) ? ("higher-consistency" as const) : undefined
    const asked = (async () => {
      try {
        const answer = await engine.check("store", model, { user, relation, object, context, consistency })
        expect(answer.revision).toBeGreaterThanOrEqual(floor)
        const tuples = history[answer.revision] ?? []
        const values = new NaiveEvaluator(
          world.model,
          tuples,
          world.objects,
          user,
          judgeWith(context, false),
        ).solve()
        const expected = values.get(`${object}#${relation}`) as Truth
        expect([`seed ${seed} (${way.name}), ${user} ${relation} ${object}`, expected]).toEqual([
          `seed ${seed} (${way.name}), ${user} ${relation} ${object}`,
          answer.allowed ? yes : 0,
        ])
      } catch (fault) {
        // At which revision it failed is not known: at one of them the outcome is an error.
        if (!(fault instanceof CheckError) || fault.code !== "validation_error") throw fault
        const couldFail = history.slice(floor).some((tuples) => {
          const naive = new NaiveEvaluator(
            world.model,
            tuples,
            world.objects,
            user,
            judgeWith(context, false),
          )
          return naive.solve().get(`${object}#${relation}`) === error
        })
        expect(couldFail).toBe(true)
      }
    })()
    judged.push(asked)
    if (random.chance(50)) {
      const tuple = randomTuple(random, world.model, world.objects)
      if (tuple !== undefined) commit(random.chance(40) ? "delete" : "write", tuple)
    }
    if (random.chance(40)) await turn()
  }
  await Promise.all(judged)
  engine.close()
  return judged.length
}

test("every answer is true at the revision it names, with writes and questions at once", {
  timeout: 600_000,
}, async () => {
  const first = Number(process.env["SALLYPORT_TEST_SEED"] ?? 1)
  const queries = Number(process.env["SALLYPORT_TEST_QUERIES"] ?? 100_000) / 20
  let judged = 0
  for (let seed = first; judged < queries; seed++) judged += await runWorld(seed)
  expect(judged).toBeGreaterThanOrEqual(queries)
})
