import { expect, test } from "vitest"
import { fixpoint } from "../../runtime/check/evaluate/fixpoint.ts"
import { EngineQuestion, isError, isTrue } from "../../runtime/check/evaluate/question.ts"
import { readRequest } from "../../runtime/check/evaluate/request.ts"
import { Graph } from "../../runtime/check/graph/graph.ts"
import { loadModel } from "../../runtime/check/loaded-model.ts"
import { rowOf } from "../../runtime/check/tuple.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { error, NaiveEvaluator, no, yes } from "../naive/evaluator.ts"
import { Random } from "../naive/random.ts"
import { judgeWith, randomContext, randomWorld } from "../naive/worlds.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"

/** The machine leaves few questions to the slow path; here it decides all of them. Returns how many it was asked. */
function runWorld(seed: number): number {
  const random = new Random(seed)
  const world = randomWorld(random)
  const model = loadModel(lowerModel(world.model))
  const graph = new Graph()
  for (const tuple of world.tuples) graph.write(rowOf(tuple))
  let asked = 0
  for (const user of world.users) {
    const context = randomContext(random)
    const values = new NaiveEvaluator(
      world.model,
      world.tuples,
      world.objects,
      user,
      judgeWith(context, true),
    ).solve()
    for (const [node, expected] of values) {
      if (expected === no && !random.chance(20)) continue
      const [object = "", relation = ""] = node.split("#")
      const parts = readRequest({ graph }, model, { user, relation, object, context })
      const question = new EngineQuestion()
      question.begin(parts, true)
      const work = fixpoint(question, parts.object, parts.relation, Number.POSITIVE_INFINITY)
      let step = work.next()
      while (step.done !== true) step = work.next()
      const actual = step.value === isTrue ? yes : step.value === isError ? error : no
      expect([`seed ${seed}: check(${user}, ${relation}, ${object})`, actual]).toEqual([
        `seed ${seed}: check(${user}, ${relation}, ${object})`,
        expected,
      ])
      if (actual === error) expect(question.problems[question.problem]?.code).toBe("validation_error")
      asked++
    }
  }
  return asked
}

test("the slow path agrees with the naive evaluator where nothing else has decided before", {
  timeout: 3_600_000,
}, (context) => {
  let asked = 0
  for (let seed = firstSeed; asked < scaled(2_000); seed++) asked += runWorld(seed)
  expect(asked).toBeGreaterThanOrEqual(scaled(2_000))
  tellAsked(context, { "checks of the slow path": asked })
})
