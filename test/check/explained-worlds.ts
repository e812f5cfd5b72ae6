import { expect } from "vitest"
import { Engine, type EngineOptions } from "../../runtime/check/engine.ts"
import { type LoadedModel, loadModel } from "../../runtime/check/loaded-model.ts"
import {
  type CheckAnswer,
  CheckError,
  type CheckRequest,
  type ConditionSeen,
  type Explanation,
  type NearestMiss,
  type ProofNode,
  type TupleKey,
} from "../../runtime/check/ports.ts"
import { validateTuple } from "../../runtime/check/tuple.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { explanation as schema } from "../../runtime/plan/explanation.ts"
import { error, NaiveEvaluator, no, type Truth, yes } from "../naive/evaluator.ts"
import { Random } from "../naive/random.ts"
import { judgeWith, type RandomWorld, randomContext, randomTuple, randomWorld } from "../naive/worlds.ts"
import { MemorySource } from "./memory-source.ts"

const keyOf = ({ object, relation, user }: TupleKey) => `${object}#${relation}@${user}`
const byKey = (tuples: readonly TupleKey[]) => new Map(tuples.map((tuple) => [keyOf(tuple), tuple]))

/** How the engine is asked. */
const ways: { readonly name: string; readonly options: EngineOptions; readonly slow?: boolean }[] = [
  { name: "whole graph", options: {} },
  { name: "pages", options: { paged: true } },
  { name: "one step a turn", options: { stepsPerLook: 1 }, slow: true },
]

/** A random world asked by one user; judged by the naive evaluator on the tuples that count. */
export class Case {
  readonly world: RandomWorld
  readonly model: LoadedModel
  readonly user: string
  readonly context: Readonly<Record<string, unknown>>
  readonly tuples: readonly TupleKey[]
  readonly partial: boolean

  constructor(
    world: RandomWorld,
    model: LoadedModel,
    user: string,
    context: Readonly<Record<string, unknown>>,
    tuples: readonly TupleKey[],
    partial: boolean,
  ) {
    this.world = world
    this.model = model
    this.user = user
    this.context = context
    this.tuples = tuples
    this.partial = partial
  }

  values(): Map<string, Truth> {
    return this.#naive(this.tuples, this.context).solve()
  }

  truth(node: string, tuples: readonly TupleKey[], context = this.context): Truth {
    return this.#naive(tuples, context).solve(node).get(node) ?? no
  }

  #naive(tuples: readonly TupleKey[], context: Readonly<Record<string, unknown>>): NaiveEvaluator {
    const { model, objects } = this.world
    return new NaiveEvaluator(model, tuples, objects, this.user, judgeWith(context, this.partial))
  }

  /** With these written and those deleted. */
  changed(add: readonly TupleKey[], remove: readonly TupleKey[]): TupleKey[] {
    const tuples = byKey(this.tuples)
    for (const tuple of remove) tuples.delete(keyOf(tuple))
    for (const tuple of add) tuples.set(keyOf(tuple), tuple)
    return [...tuples.values()]
  }
}

/** Counts of what was looked at. */
export interface Counts {
  asked: number
  proofs: number
  denials: number
  misses: number
  conditional: number
  cut: number
}

function randomContextual(random: Random, world: RandomWorld, model: LoadedModel): TupleKey[] {
  const found = new Map<string, TupleKey>()
  for (let at = random.chance(40) ? random.below(5) : 0; at > 0; at--) {
    const tuple = randomTuple(random, world.model, world.objects)
    if (tuple !== undefined && validateTuple(model, tuple) === undefined) found.set(keyOf(tuple), tuple)
  }
  return [...found.values()]
}

/** All explanations of one world: each is replayed by the naive evaluator. */
export async function explainWorld(seed: number, counts: Counts, perUser: number): Promise<void> {
  const random = new Random(seed)
  const world = randomWorld(random)
  const model = loadModel(lowerModel(world.model))
  const source = new MemorySource()
  if (world.tuples.length > 0) source.write(...world.tuples)
  // Turns of the event loop take long: few worlds need them.
  const way = ways[seed % 10 === 0 ? 2 : seed % 2] as (typeof ways)[number]
  let clock = 0
  const engine = new Engine(source, {
    pollMs: 0,
    deadlineMs: 1e12,
    depthMax: Number.POSITIVE_INFINITY,
    ...way.options,
    ...(way.slow === true ? { now: () => (clock += 10) } : {}),
  })
  for (const user of world.users) {
    const contextualTuples = randomContextual(random, world, model)
    const tuples = [...byKey([...world.tuples, ...contextualTuples]).values()]
    const context = randomContext(random)
    const ternary = random.chance(50)
    const one = new Case(world, model, user, context, tuples, ternary)
    const values = one.values()
    const nodes = [...values.keys()]
    const telling = nodes.filter((node) => values.get(node) !== no)
    const open = nodes.filter((node) => values.get(node) === error)
    for (let at = 0; at < perUser; at++) {
      const some = open.length > 0 && random.chance(50) ? open : random.chance(50) ? telling : nodes
      const node = random.pick(some.length > 0 ? some : nodes)
      const [object = "", relation = ""] = node.split("#")
      const request: CheckRequest = {
        user,
        relation,
        object,
        context,
        contextualTuples,
        explain: true,
        ternary,
      }
      counts.asked++
      try {
        await judge(engine, one, request, values.get(node) as Truth, counts, random)
      } catch (fault) {
        const what = `seed ${seed} (${way.name}): ${user} ${relation} ${object}, context ${JSON.stringify(context)}, ternary ${ternary}`
        throw new Error(`${what}: ${fault instanceof Error ? fault.message : fault}`, { cause: fault })
      }
    }
  }
  engine.close()
}

async function judge(
  engine: Engine,
  one: Case,
  request: CheckRequest,
  expected: Truth,
  counts: Counts,
  random: Random,
): Promise<void> {
  let answer: CheckAnswer
  try {
    answer = await engine.check("store", one.model, request)
  } catch (fault) {
    if (!(fault instanceof CheckError)) throw fault
    expect([fault.code, expected, request.ternary]).toEqual(["validation_error", error, false])
    return
  }
  judgeAnswer(one, `${request.object}#${request.relation}`, answer, expected, counts, random)
}

/** One explained answer about a node against what the naive evaluator says of it. */
export function judgeAnswer(
  one: Case,
  node: string,
  { allowed, missingContext, explanation }: CheckAnswer,
  expected: Truth,
  counts: Counts,
  random: Random,
): void {
  if (explanation === undefined) throw new Error("there is no explanation")
  expect(explanation.allowed).toBe(allowed)
  schema.parse(JSON.parse(JSON.stringify(explanation)))
  expect(explanation.missing_context).toEqual(missingContext)
  if (!explanation.complete) counts.cut++
  if (expected === yes) {
    counts.proofs++
    judgeProof(one, node, explanation)
    return
  }
  counts.denials++
  if (expected === error) judgeMissing(one, node, missingContext ?? [], counts)
  else expect([allowed, missingContext]).toEqual([false, undefined])
  // The first is what people act on; the others are looked at in turn.
  const misses = explanation.misses ?? []
  counts.misses += misses.length
  const other = misses.length > 1 ? misses[1 + random.below(misses.length - 1)] : undefined
  for (const miss of [...misses.slice(0, 1), ...(other === undefined ? [] : [other])])
    judgeMiss(one, node, miss, random)
}

/** The proof's tuples are true ones, the tree's own, and prove the same alone. */
function judgeProof(one: Case, node: string, { allowed, proof, tuples, complete }: Explanation): void {
  expect([allowed, proof !== undefined, tuples !== undefined]).toEqual([true, true, true])
  const stored = byKey(one.tuples)
  for (const tuple of tuples ?? []) expect(plain(stored.get(keyOf(tuple)))).toEqual(plain(tuple))
  const shown = new Set<string>()
  const visit = (step: ProofNode) => {
    if (step.tuple !== undefined) shown.add(keyOf(step.tuple))
    if (step.condition !== undefined) expectSeen(step.condition)
    step.children?.forEach(visit)
  }
  if (proof !== undefined) visit(proof)
  if (complete) expect([...shown].sort()).toEqual((tuples ?? []).map(keyOf).sort())
  expect(`${node} by the proof's tuples is ${one.truth(node, tuples ?? [])}`).toBe(
    `${node} by the proof's tuples is ${yes}`,
  )
}

function expectSeen(condition: ConditionSeen): void {
  expect(condition.outcome).toBe("true")
}

/** An empty context and none are the same. */
function plain(tuple: TupleKey | undefined): unknown {
  const context = tuple?.condition?.context
  if (tuple?.condition === undefined || (context !== undefined && Object.keys(context).length > 0))
    return tuple
  return { ...tuple, condition: { name: tuple.condition.name } }
}

/** All values for some names: numbers on both sides of what `small` asks, truth values. */
function* assignments(names: readonly string[]): Generator<Record<string, unknown>> {
  const [name, ...others] = names
  if (name === undefined) yield {}
  else
    for (const value of name === "x" ? [0, 50] : [true, false])
      for (const rest of assignments(others)) yield { [name]: value, ...rest }
}

/** The names are missing, and with all of them there is an answer whatever their values. */
function judgeMissing(one: Case, node: string, names: readonly string[], counts: Counts): void {
  counts.conditional++
  expect(names.length).toBeGreaterThan(0)
  expect(names).toEqual([...names].sort())
  for (const name of names) expect(one.context).not.toHaveProperty(name)
  for (const given of assignments(names))
    expect([given, one.truth(node, one.tuples, { ...one.context, ...given }) === error]).toEqual([
      given,
      false,
    ])
}

/** Writing and deleting all of it allows, no part of it does. */
function judgeMiss(one: Case, node: string, miss: NearestMiss, random: Random): void {
  const { add, remove, missing_context: names } = miss
  const stored = byKey(one.tuples)
  for (const tuple of add) {
    expect([validateTuple(one.model, tuple), stored.has(keyOf(tuple))]).toEqual([undefined, false])
  }
  for (const tuple of remove) expect(plain(stored.get(keyOf(tuple)))).toEqual(plain(tuple))
  const edits = [
    ...add.map((tuple) => ({ tuple, adds: true })),
    ...remove.map((tuple) => ({ tuple, adds: false })),
  ]
  expect(edits.length).toBeGreaterThan(0)
  const outcome = (some: typeof edits, context = one.context) =>
    one.truth(
      node,
      one.changed(
        some.filter(({ adds }) => adds).map(({ tuple }) => tuple),
        some.filter(({ adds }) => !adds).map(({ tuple }) => tuple),
      ),
      context,
    )
  const say = JSON.stringify(miss)
  if (names === undefined) expect([say, outcome(edits)]).toEqual([say, yes])
  else {
    expect([say, outcome(edits)]).toEqual([say, error])
    const values = [...assignments(names)].map((given) => outcome(edits, { ...one.context, ...given }))
    expect([say, values.includes(error), values.includes(yes)]).toEqual([say, false, true])
  }
  for (let bits = 1; bits < (1 << edits.length) - 1; bits++) {
    if (edits.length > 2 && !random.chance(50)) continue
    const part = edits.filter((_, at) => (bits >> at) & 1)
    expect([say, bits, outcome(part) === yes]).toEqual([say, bits, false])
  }
}
