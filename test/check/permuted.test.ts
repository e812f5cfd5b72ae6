import { expect, test } from "vitest"
import type { Engine } from "../../runtime/check/engine.ts"
import { expand } from "../../runtime/check/expand.ts"
import { listObjects } from "../../runtime/check/list-objects.ts"
import { listUsers } from "../../runtime/check/list-users.ts"
import { type LoadedModel, loadModel } from "../../runtime/check/loaded-model.ts"
import { CheckError, type TupleKey } from "../../runtime/check/ports.ts"
import { validateTuple } from "../../runtime/check/tuple.ts"
import type { EngineWork } from "../../runtime/check/work.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import type { AuthorizationModel, Userset } from "../../runtime/plan/authorization-model.ts"
import { Random } from "../naive/random.ts"
import { randomContext, randomWorld } from "../naive/worlds.ts"
import { firstSeed, scaled, tellAsked } from "../support/random-run.ts"
import { MemorySource } from "./memory-source.ts"
import { engineFor, type Way, ways } from "./random-engine.ts"

// The order in which a model is written down and tuples are written decides nothing, nor whether a tuple is stored or comes
// with the question.

const questions = scaled(1_000, 0.4)
const questionsPerUser = 8
const relations = ["a", "b", "c", "d"]
/** A limit on depth counts hops, and which branch is found first may spare some. */
const deepWays = ways.filter(({ options }) => options.depthMax === Number.POSITIVE_INFINITY)

/** The same world, held in another way. */
interface Held {
  readonly name: string
  readonly engine: Engine
  readonly model: LoadedModel
  readonly contextualTuples: readonly TupleKey[]
}

function shuffled<Item>(random: Random, items: readonly Item[]): Item[] {
  const all = [...items]
  for (let at = all.length - 1; at > 0; at--) {
    const other = random.below(at + 1)
    ;[all[at], all[other]] = [all[other] as Item, all[at] as Item]
  }
  return all
}

const shuffledEntries = <Value>(random: Random, fields: Readonly<Record<string, Value>> | undefined) =>
  Object.fromEntries(shuffled(random, Object.entries(fields ?? {})))

function shuffledRewrite(random: Random, rewrite: Userset): Userset {
  const inside = (items: readonly Userset[]) =>
    shuffled(
      random,
      items.map((item) => shuffledRewrite(random, item)),
    )
  if ("union" in rewrite) return { union: { child: inside(rewrite.union.child) } }
  if ("intersection" in rewrite) return { intersection: { child: inside(rewrite.intersection.child) } }
  if ("difference" in rewrite) {
    const { base, subtract } = rewrite.difference
    return {
      difference: { base: shuffledRewrite(random, base), subtract: shuffledRewrite(random, subtract) },
    }
  }
  return rewrite
}

function shuffledModel(random: Random, model: AuthorizationModel): AuthorizationModel {
  const definitions = model.type_definitions.map((definition) => ({
    ...definition,
    ...(definition.relations !== undefined && {
      relations: Object.fromEntries(
        shuffled(random, Object.entries(definition.relations)).map(([name, rewrite]) => [
          name,
          shuffledRewrite(random, rewrite),
        ]),
      ),
    }),
    ...(definition.metadata !== undefined && {
      metadata: {
        ...definition.metadata,
        relations: Object.fromEntries(
          Object.entries(definition.metadata.relations ?? {}).map(([name, own]) => [
            name,
            {
              ...own,
              directly_related_user_types: shuffled(random, own.directly_related_user_types ?? []),
            },
          ]),
        ),
      },
    }),
  }))
  return {
    ...model,
    type_definitions: shuffled(random, definitions),
    conditions: shuffledEntries(random, model.conditions),
  }
}

function hold(
  name: string,
  way: Way,
  model: AuthorizationModel,
  stored: readonly TupleKey[],
  contextualTuples: readonly TupleKey[],
): Held {
  const source = new MemorySource()
  for (const tuple of stored) source.write(tuple)
  source.rowsPerTurn = way.rowsPerTurn
  return {
    name: `${name}, ${way.name}`,
    engine: engineFor(source, way),
    model: loadModel(lowerModel(model)),
    contextualTuples,
  }
}

async function outcome<Answer>(answer: () => Answer | Promise<Answer>, of: (found: Answer) => unknown) {
  try {
    return of(await answer())
  } catch (fault) {
    if (!(fault instanceof CheckError)) throw fault
    return fault.code
  }
}

interface Question {
  readonly user: string
  readonly object: string
  readonly relation: string
  readonly context: Readonly<Record<string, unknown>>
}

/** A check, two lists and a tree. */
async function answers({ engine, model, contextualTuples }: Held, question: Question) {
  const { user, object, relation, context } = question
  const [type = ""] = object.split(":")
  const given = { context, contextualTuples }
  const ask = <Answer>(work: EngineWork<Answer>) => engine.ask("store", work)
  const filter = { type: user.split(":")[0] ?? "" }
  const { bounds } = engine
  return {
    check: await outcome(
      () => engine.check("store", model, { user, object, relation, ...given }),
      ({ allowed }) => allowed,
    ),
    objects: await outcome(
      () => ask(listObjects(model, { user, type, relation, ...given }, bounds)),
      ({ objects }) => [...objects].sort(),
    ),
    users: await outcome(
      () => ask(listUsers(model, { object, relation, filter, ...given }, bounds)),
      ({ users, excluded }) => [[...users].sort(), [...excluded].sort()],
    ),
    tree: await outcome(
      () => ask(expand(model, { object, relation, ...given }, bounds)),
      ({ root }) => inOrder(root),
    ),
  }
}

/** A tree as a text, in which the order of branches and users is none; of a difference the sides are named. */
function inOrder(node: unknown): string {
  if (Array.isArray(node)) return `[${node.map(inOrder).sort().join(",")}]`
  if (node === null || typeof node !== "object") return JSON.stringify(node)
  return `{${Object.entries(node)
    .map(([name, value]) => `${name}:${inOrder(value)}`)
    .join(",")}}`
}

async function runWorld(seed: number): Promise<number> {
  const random = new Random(seed)
  const world = randomWorld(random)
  const model = loadModel(lowerModel(world.model))
  const keyOf = ({ object, relation, user }: TupleKey) => `${object}#${relation}@${user}`
  const tuples = [...new Map(world.tuples.map((tuple) => [keyOf(tuple), tuple])).values()]
  // What the model forbids can only be there from before.
  const allowed = tuples.filter((tuple) => validateTuple(model, tuple) === undefined)
  const forbidden = tuples.filter((tuple) => !allowed.includes(tuple))
  const some = allowed.filter(() => random.chance(50))
  const others = allowed.filter((tuple) => !some.includes(tuple))
  const one = random.pick(deepWays)
  const held = [
    hold("as it is", one, world.model, tuples, []),
    hold("shuffled", one, shuffledModel(random, world.model), shuffled(random, tuples), []),
    hold("some with the question", one, world.model, [...forbidden, ...some], shuffled(random, others)),
    hold("all with the question", one, world.model, forbidden, shuffled(random, allowed)),
  ] as const
  let compared = 0
  for (const user of world.users)
    for (let at = 0; at < questionsPerUser; at++) {
      const question = {
        user,
        object: random.pick(world.objects),
        relation: random.pick(relations),
        context: randomContext(random),
      }
      const [first, ...rest] = held
      const wanted = await answers(first, question)
      for (const each of rest) {
        const where = `seed ${seed}, ${each.name}: ${JSON.stringify(question)}`
        expect([where, await answers(each, question)]).toEqual([where, wanted])
      }
      compared++
    }
  for (const { engine } of held) engine.close()
  return compared
}

test(`${questions} random questions have the same answers in any order, from the store or from the request`, {
  timeout: 3_600_000,
}, async (context) => {
  let compared = 0
  for (let seed = firstSeed; compared < questions; seed++) compared += await runWorld(seed)
  tellAsked(context, { "questions of four kinds, each of four holders": compared })
})
