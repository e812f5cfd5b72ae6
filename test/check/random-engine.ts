import { Engine, type EngineOptions } from "../../runtime/check/engine.ts"
import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import { CheckError, type CheckRequest, type TupleKey } from "../../runtime/check/ports.ts"
import { validateTuple } from "../../runtime/check/tuple.ts"
import type { Random } from "../naive/random.ts"
import { type RandomWorld, randomTuple } from "../naive/worlds.ts"
import type { MemorySource } from "./memory-source.ts"

/** A way of running the engine. */
export interface Way {
  readonly name: string
  readonly options: EngineOptions
  /** Every look at the clock ends the turn. */
  readonly slow?: boolean
  /** Rows a source gives in a turn. */
  readonly rowsPerTurn?: number
  /** Rows a page may have: lists with more are asked for by single tuples, parts and rows. */
  readonly pageRowsMax?: number
}

/** How the engine is asked; each world is asked in one of these ways. */
export const ways: readonly Way[] = [
  { name: "whole graph", options: { depthMax: Number.POSITIVE_INFINITY } },
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
    },
  },
  { name: "pages of one row", options: { depthMax: Number.POSITIVE_INFINITY, paged: true }, pageRowsMax: 1 },
  {
    name: "pages of no row, few, always searching",
    options: { depthMax: Number.POSITIVE_INFINITY, walkSteps: 0, paged: true, memoryBytes: 160_000 },
    pageRowsMax: 0,
  },
  { name: "cold", options: { depthMax: Number.POSITIVE_INFINITY, coldMs: 0 }, rowsPerTurn: 1 },
  { name: "one step a turn", options: { depthMax: Number.POSITIVE_INFINITY, stepsPerLook: 1 }, slow: true },
]

/** An engine that runs in a way. */
export function engineFor(source: MemorySource, way: Way): Engine {
  let clock = 0
  source.pageRowsMax = way.pageRowsMax ?? Number.POSITIVE_INFINITY
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
export async function prepare(
  random: Random,
  world: RandomWorld,
  source: MemorySource,
  engine: Engine,
  model: LoadedModel,
) {
  const shuffled = world.tuples.filter(() => random.chance(85))
  const early = shuffled.filter(() => random.chance(60))
  if (early.length > 0) source.write(...early)
  await tryCheck(engine, model, { user: "user:0", relation: "a", object: world.objects[0] ?? "" })
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
      await tryCheck(engine, model, {
        user: "user:1",
        relation: random.pick(["a", "b"]),
        object: random.pick(world.objects),
      })
  }
}

/** Tuples to come with a question: stored ones under other conditions among them. */
export function randomContextual(random: Random, world: RandomWorld, model: LoadedModel): TupleKey[] {
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

async function tryCheck(engine: Engine, model: LoadedModel, request: CheckRequest): Promise<void> {
  try {
    await engine.check("store", model, request)
  } catch (fault) {
    if (!(fault instanceof CheckError)) throw fault
  }
}

/** The tuples that count for a question: the stored ones, and over them those that come with it. */
export function counting(stored: readonly TupleKey[], contextual: readonly TupleKey[]): TupleKey[] {
  const keyOf = ({ object, relation, user }: TupleKey) => `${object}#${relation}@${user}`
  const shadowed = new Set(contextual.map(keyOf))
  return [...stored.filter((tuple) => !shadowed.has(keyOf(tuple))), ...contextual]
}
