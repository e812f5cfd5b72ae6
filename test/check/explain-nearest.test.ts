import { expect, test } from "vitest"
import { Engine } from "../../runtime/check/engine.ts"
import { type LoadedModel, loadModel } from "../../runtime/check/loaded-model.ts"
import type { TupleKey } from "../../runtime/check/ports.ts"
import { validateTuple } from "../../runtime/check/tuple.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { NaiveEvaluator, no, yes } from "../naive/evaluator.ts"
import { Random } from "../naive/random.ts"
import { judgeWith, type RandomWorld, randomWorld } from "../naive/worlds.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { MemorySource } from "./memory-source.ts"

/** Denials for which all tuples are tried. */
const denials = scaled(20, 0.4)
const context = { x: 5, p: true, q: false }
const keyOf = ({ object, relation, user }: TupleKey) => `${object}#${relation}@${user}`

/** Every tuple the model lets be written that names an object, a userset or the user of the world. */
function* writable({ objects, tuples }: RandomWorld, model: LoadedModel, user: string): Generator<TupleKey> {
  const stored = new Set(tuples.map(keyOf))
  const relations = ["a", "b", "c", "d"]
  const usersets = objects.flatMap((object) => relations.map((relation) => `${object}#${relation}`))
  const everybody = user.includes("#") ? [] : [`${user.split(":")[0]}:*`]
  for (const object of objects)
    for (const relation of ["parent", ...relations])
      for (const other of [user, ...everybody, ...objects, ...usersets])
        for (const condition of [undefined, { name: "small" }, { name: "either" }]) {
          const tuple = { object, relation, user: other, ...(condition === undefined ? {} : { condition }) }
          if (!stored.has(keyOf(tuple)) && validateTuple(model, tuple) === undefined) yield tuple
        }
}

/** Is there a tuple whose writing or deletion alone would allow it? */
function oneTuple(world: RandomWorld, model: LoadedModel, user: string, node: string): TupleKey | undefined {
  const allowedWith = (tuples: readonly TupleKey[]) =>
    new NaiveEvaluator(world.model, tuples, world.objects, user, judgeWith(context, false))
      .solve(node)
      .get(node) === yes
  for (const tuple of writable(world, model, user)) if (allowedWith([...world.tuples, tuple])) return tuple
  return world.tuples.find((tuple) => allowedWith(world.tuples.filter((other) => other !== tuple)))
}

test(`where one tuple would do, the nearest miss is one tuple (${denials} denials, all tuples tried)`, {
  timeout: 3_600_000,
}, async (task) => {
  let tried = 0
  for (let seed = firstSeed; tried < denials; seed++) {
    const random = new Random(seed)
    const world = randomWorld(random)
    const model = loadModel(lowerModel(world.model))
    const source = new MemorySource()
    if (world.tuples.length > 0) source.write(...world.tuples)
    const engine = new Engine(source, { pollMs: 0, deadlineMs: 1e9, depthMax: Number.POSITIVE_INFINITY })
    const user = random.pick(world.users)
    const judge = judgeWith(context, false)
    const values = new NaiveEvaluator(world.model, world.tuples, world.objects, user, judge).solve()
    const denied = [...values.keys()].filter((node) => values.get(node) === no)
    const node = denied.length > 0 ? random.pick(denied) : ""
    const [object = "", relation = ""] = node.split("#")
    if (node !== "") {
      const request = { user, relation, object, context, explain: true }
      const { explanation } = await engine.check("store", model, request)
      const nearest = explanation?.misses?.find(({ missing_context }) => missing_context === undefined)
      const size = nearest === undefined ? 0 : nearest.add.length + nearest.remove.length
      if (size !== 1) {
        tried++
        const better = oneTuple(world, model, user, node)
        expect([`seed ${seed}: ${user} ${node}`, better]).toEqual([
          `seed ${seed}: ${user} ${node}`,
          undefined,
        ])
      }
    }
    engine.close()
  }
  tellAsked(task, { "denials with all tuples tried": tried })
})
