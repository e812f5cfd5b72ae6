import { expect, test } from "vitest"
import { Engine } from "../../runtime/check/engine.ts"
import { loadModel } from "../../runtime/check/loaded-model.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { Random } from "../naive/random.ts"
import { randomContext, randomWorld } from "../naive/worlds.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { Case, type Counts, explainWorld, judgeAnswer } from "./explained-worlds.ts"
import { MemorySource } from "./memory-source.ts"
import { storedTuples } from "./stored-tuples.ts"

const queries = scaled(2_000)

test(`explanations of ${queries} random questions hold by the naive evaluator`, {
  timeout: 3_600_000,
}, async (context) => {
  const counts: Counts = { asked: 0, proofs: 0, denials: 0, misses: 0, conditional: 0, cut: 0 }
  for (let seed = firstSeed; counts.asked < queries; seed++) await explainWorld(seed, counts, 8)
  expect(counts.proofs).toBeGreaterThan(queries / 5)
  expect(counts.misses).toBeGreaterThan(queries / 5)
  expect(counts.conditional).toBeGreaterThan(queries / 200)
  tellAsked(context, { explanations: counts.asked, proofs: counts.proofs, "nearest misses": counts.misses })
})

test("an explanation is of one revision, whatever is written while it is at work", async () => {
  const counts: Counts = { asked: 0, proofs: 0, denials: 0, misses: 0, conditional: 0, cut: 0 }
  const revisions = new Set<number>()
  for (let seed = firstSeed; counts.asked < 300; seed++) {
    const random = new Random(seed)
    const world = randomWorld(random)
    const model = loadModel(lowerModel(world.model))
    const source = new MemorySource()
    source.write(...world.tuples)
    let clock = 0
    const engine = new Engine(source, {
      pollMs: 0,
      deadlineMs: 1e12,
      depthMax: Number.POSITIVE_INFINITY,
      stepsPerLook: 1,
      // Every look ends the turn.
      now: () => (clock += 10),
      paged: seed % 2 === 0,
    })
    await engine.warm("store")
    const at = [[], storedTuples(source)]
    for (const user of world.users.slice(0, 3)) {
      const context = randomContext(random)
      const object = random.pick(world.objects)
      const request = { user, relation: "a", object, context, explain: true, ternary: true }
      const asked = engine.check("store", model, request)
      for (let turns = random.below(40); turns > 0; turns--) await new Promise((go) => setImmediate(go))
      for (const tuple of world.tuples.filter(() => random.chance(20))) {
        const changes = random.chance(60) ? source.delete(tuple) : source.write(tuple)
        engine.applied("store", changes)
        const { revision } = changes.at(-1) ?? {}
        if (revision !== undefined) at[revision] = storedTuples(source)
      }
      const answer = await asked
      counts.asked++
      revisions.add(answer.revision)
      const one = new Case(world, model, user, context, at[answer.revision] ?? [], true)
      const node = `${object}#a`
      judgeAnswer(one, node, answer, one.truth(node, one.tuples), counts, random)
    }
    engine.close()
  }
  expect(revisions.size).toBeGreaterThan(5)
})
