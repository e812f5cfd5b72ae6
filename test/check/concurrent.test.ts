import { expect, test } from "vitest"
import { Engine, type EngineOptions } from "../../runtime/check/engine.ts"
import { type LoadedModel, loadModel } from "../../runtime/check/loaded-model.ts"
import { CheckError, type TupleKey } from "../../runtime/check/ports.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { error, NaiveEvaluator, no, yes } from "../naive/evaluator.ts"
import { Random } from "../naive/random.ts"
import { judgeWith, type RandomWorld, randomContext, randomTuple, randomWorld } from "../naive/worlds.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { commit, MemorySource } from "./memory-source.ts"
import { storedTuples } from "./stored-tuples.ts"

const depthMax = Number.POSITIVE_INFINITY
const ways: { name: string; options: EngineOptions; suspends: boolean; rowsPerTurn?: number }[] = [
  { name: "whole graph", options: { depthMax, stepsPerLook: 1 }, suspends: true },
  {
    name: "whole graph, always searching",
    options: { depthMax, stepsPerLook: 1, walkSteps: 0 },
    suspends: true,
  },
  { name: "pages", options: { depthMax, paged: true }, suspends: false },
  {
    name: "few pages, always searching",
    options: { depthMax, stepsPerLook: 1, walkSteps: 0, paged: true, memoryBytes: 60_000 },
    suspends: true,
  },
  { name: "cold", options: { depthMax, stepsPerLook: 1, coldMs: 0 }, suspends: true, rowsPerTurn: 1 },
]

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A tuple as a text; an empty context and none are the same. */
function plainText({ object, relation, user, condition }: TupleKey): string {
  const { name = "", context = {} } = condition ?? {}
  return JSON.stringify([object, relation, user, name, Object.entries(context).sort()])
}

/** One world being asked and written to. */
class Scene {
  readonly #random: Random
  readonly #world: RandomWorld
  readonly #source = new MemorySource()
  readonly #engine: Engine
  readonly #name: string
  readonly #model: LoadedModel
  /** The tuples at each revision. */
  readonly #history: TupleKey[][] = [[]]

  constructor(seed: number) {
    const way = ways[seed % ways.length] as (typeof ways)[number]
    this.#name = `seed ${seed} (${way.name})`
    this.#source.rowsPerTurn = way.rowsPerTurn
    this.#random = new Random(seed)
    this.#world = randomWorld(this.#random)
    this.#model = loadModel(lowerModel(this.#world.model))
    let clock = 0
    const now = way.suspends ? { now: () => (clock += 3) } : {}
    this.#engine = new Engine(this.#source, { pollMs: 0, deadlineMs: 1e12, ...way.options, ...now })
    for (const tuple of this.#world.tuples) this.#commit("write", tuple)
  }

  #commit(operation: "write" | "delete", tuple: TupleKey): void {
    const changes = this.#source[operation](tuple)
    if (changes.length > 0) this.#history.push(storedTuples(this.#source))
    // Sometimes the write of another process: then the feed brings it.
    if (this.#random.chance(80)) this.#engine.applied("store", changes)
  }

  /** Questions and writes at the same time; returns how many answers were judged. */
  async play(): Promise<number> {
    const judged: Promise<void>[] = []
    for (let at = 0; at < 24; at++) {
      judged.push(this.#ask())
      if (this.#random.chance(50)) {
        const tuple = randomTuple(this.#random, this.#world.model, this.#world.objects)
        if (tuple !== undefined) this.#commit(this.#random.chance(40) ? "delete" : "write", tuple)
      }
      if (this.#random.chance(40)) await turn()
    }
    await Promise.all(judged)
    this.#engine.close()
    return judged.length
  }

  async #ask(): Promise<void> {
    const floor = this.#engine.revision("store") ?? 0
    const user = this.#random.pick(this.#world.users)
    const object = this.#random.pick(this.#world.objects)
    const relation = this.#random.pick(["a", "b", "c", "d"])
    const context = randomContext(this.#random)
    const consistency = this.#random.chance(20) ? ("higher-consistency" as const) : undefined
    const exactly = this.#random.chance(25) ? this.#random.below(this.#history.length) : undefined
    const explain = this.#random.chance(25)
    const valueIn = (tuples: readonly TupleKey[]) =>
      new NaiveEvaluator(this.#world.model, tuples, this.#world.objects, user, judgeWith(context, false))
        .solve()
        .get(`${object}#${relation}`)
    try {
      const request = {
        user,
        relation,
        object,
        context,
        consistency,
        exactly: exactly === undefined ? undefined : commit(exactly),
        explain,
      }
      const { allowed, revision, explanation } = await this.#engine.check("store", this.#model, request)
      if (exactly === undefined) expect(revision).toBeGreaterThanOrEqual(floor)
      else expect(revision).toBe(exactly)
      const question = `${this.#name}: ${user} ${relation} ${object}`
      const then = this.#history[revision] ?? []
      expect([question, allowed ? yes : no]).toEqual([question, valueIn(then)])
      if (!explain) return
      // The proof is of that revision too: its tuples stood then, and prove it.
      expect([question, explanation?.allowed]).toEqual([question, allowed])
      const proof = explanation?.tuples ?? []
      const texts = new Set(then.map(plainText))
      expect([question, proof.filter((tuple) => !texts.has(plainText(tuple)))]).toEqual([question, []])
      if (allowed) expect([question, valueIn(proof)]).toEqual([question, yes])
    } catch (fault) {
      // At which revision it failed is unknown: at one of them the outcome is an error.
      if (!(fault instanceof CheckError) || fault.code !== "validation_error") throw fault
      const possible = exactly === undefined ? this.#history.slice(floor) : [this.#history[exactly] ?? []]
      expect(possible.some((tuples) => valueIn(tuples) === error)).toBe(true)
    }
  }
}

test("every answer is true at the revision it names, with writes and questions at once", {
  timeout: 3_600_000,
}, async (context) => {
  const queries = scaled(1_000, 0.4)
  let judged = 0
  for (let seed = firstSeed; judged < queries; seed++) judged += await new Scene(seed).play()
  expect(judged).toBeGreaterThanOrEqual(queries)
  tellAsked(context, { "checks among writes": judged })
})
