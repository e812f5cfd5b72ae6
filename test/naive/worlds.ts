import type { TupleKey } from "../../runtime/check/ports.ts"
import type {
  AuthorizationModel,
  RelationReference,
  TypeDefinition,
  Userset,
} from "../../runtime/plan/authorization-model.ts"
import { error, type Judge, no, yes } from "./evaluator.ts"
import type { Random } from "./random.ts"

/** A random model, tuples for it (some of which it forbids) and what may be asked. */
export interface RandomWorld {
  readonly model: AuthorizationModel
  readonly tuples: readonly TupleKey[]
  readonly objects: readonly string[]
  readonly users: readonly string[]
}

const relationNames = ["a", "b", "c", "d"]
const hostTypes = ["group", "folder", "doc"]
const subjectTypes = ["user", "robot"]

/** Conditions: one of a single parameter, two that can be decided without their second, for and against. */
const conditions: AuthorizationModel["conditions"] = {
  small: { name: "small", expression: "x < 10", parameters: { x: { type_name: "TYPE_NAME_INT" } } },
  either: {
    name: "either",
    expression: "p || q",
    parameters: { p: { type_name: "TYPE_NAME_BOOL" }, q: { type_name: "TYPE_NAME_BOOL" } },
  },
  both: {
    name: "both",
    expression: "p && q",
    parameters: { p: { type_name: "TYPE_NAME_BOOL" }, q: { type_name: "TYPE_NAME_BOOL" } },
  },
}

/**
 * The same conditions judged by hand: the stored context wins, and what does not matter may be missing, for a yes only with `partial`.
 */
export function judgeWith(request: Readonly<Record<string, unknown>>, partial: boolean): Judge {
  return (condition, stored) => {
    const context = { ...request, ...stored }
    if (condition === "small") {
      const { x } = context
      return typeof x !== "number" ? error : x < 10 ? yes : no
    }
    const { p, q } = context
    const missing = typeof p !== "boolean" || typeof q !== "boolean"
    if (condition === "both") return p === false || q === false ? no : missing ? error : yes
    if (p === true || q === true) return missing && !partial ? error : yes
    return missing ? error : no
  }
}

export function randomContext(random: Random): Record<string, unknown> {
  const context: Record<string, unknown> = {}
  if (random.chance(60)) context["x"] = random.below(20)
  if (random.chance(60)) context["p"] = random.chance(50)
  if (random.chance(60)) context["q"] = random.chance(50)
  return context
}

/** `wildcards`: in so many of 100 cases a type of subjects may stand as a whole. `favoured` weighs up what a test is about. */
export function randomWorld(random: Random, wildcards = 12, favoured: Partial<Flavour> = {}): RandomWorld {
  // Each world favours something, so that deep cases of everything are met: chains of usersets, negation, conditions, cycles.
  const flavour: Flavour = {
    operators: random.pick([0, 15, 35, 60]),
    unions: random.pick([100, 60, 30]),
    conditions: random.pick([0, 0, 15, 40]),
    usersets: random.pick([15, 40, 80]),
    wildcards,
    ...favoured,
  }
  // Few people in many usersets make long ways and cycles between them.
  const people = random.pick([10, 25, 60])
  const model: AuthorizationModel = {
    schema_version: "1.1",
    type_definitions: [
      ...subjectTypes.map((type) => ({ type })),
      ...hostTypes.map((type) => randomType(random, type, flavour)),
    ],
    conditions,
  }
  const idsMax = random.pick([1, 2, 3, 4])
  const objects = hostTypes.flatMap((type) => Array.from({ length: idsMax }, (_, id) => `${type}:${id}`))
  const tuples = randomTuples(random, model, objects, people, 6 + random.below(22 * idsMax))
  const users = [
    "user:0",
    "user:1",
    "robot:0",
    random.pick(["user:stranger", "user:*"]),
    ...[0, 1].map(() => `${random.pick(objects)}#${random.pick(relationNames)}`),
  ]
  return { model, tuples, objects, users }
}

/** Chances in percent. */
interface Flavour {
  /** Of an operator instead of a leaf. */
  readonly operators: number
  /** Of a union among operators. */
  readonly unions: number
  readonly conditions: number
  readonly usersets: number
  readonly wildcards: number
}

function randomType(random: Random, type: string, flavour: Flavour): TypeDefinition {
  const relations: Record<string, Userset> = { parent: { this: {} } }
  const metadata: Record<string, { directly_related_user_types: RelationReference[] }> = {
    parent: {
      directly_related_user_types: hostTypes
        .filter(() => random.chance(50))
        .flatMap((parent) => [
          { type: parent },
          ...(random.chance(flavour.conditions) ? [{ type: parent, condition: "either" }] : []),
        ]),
    },
  }
  for (const relation of relationNames) {
    relations[relation] = randomRewrite(random, flavour, 0)
    metadata[relation] = { directly_related_user_types: randomRestrictions(random, flavour) }
  }
  return { type, relations, metadata: { relations: metadata } }
}

function randomRestrictions(random: Random, flavour: Flavour): RelationReference[] {
  const restrictions: RelationReference[] = []
  const add = (reference: RelationReference) => {
    if (!random.chance(flavour.conditions)) restrictions.push(reference)
    else restrictions.push({ ...reference, condition: random.pick(["small", "either", "both"]) })
    if (random.chance(flavour.conditions)) restrictions.push(reference)
  }
  for (const type of subjectTypes) {
    if (random.chance(type === "user" ? 80 : 30)) add({ type })
    if (random.chance(flavour.wildcards)) add({ type, wildcard: {} })
  }
  for (const type of hostTypes)
    for (const relation of relationNames) if (random.chance(flavour.usersets / 4)) add({ type, relation })
  return restrictions
}

function randomRewrite(random: Random, flavour: Flavour, depth: number): Userset {
  const child = () => randomRewrite(random, flavour, depth + 1)
  if (depth < 3 && random.chance(depth === 0 ? flavour.operators + 20 : flavour.operators)) {
    if (!random.chance(flavour.unions))
      return random.chance(40)
        ? { intersection: { child: [child(), child()] } }
        : { difference: { base: child(), subtract: child() } }
    return { union: { child: random.chance(30) ? [child(), child(), child()] : [child(), child()] } }
  }
  const leaf = random.below(10)
  if (leaf < 6) return { this: {} }
  if (leaf < 8) return { computedUserset: { relation: random.pick(relationNames) } }
  return {
    tupleToUserset: {
      tupleset: { relation: "parent" },
      computedUserset: { relation: random.pick(relationNames) },
    },
  }
}

function randomTuples(
  random: Random,
  model: AuthorizationModel,
  objects: readonly string[],
  people: number,
  count: number,
): TupleKey[] {
  const tuples = new Map<string, TupleKey>()
  for (let at = 0; at < count; at++) {
    const tuple = randomTuple(random, model, objects, people)
    if (tuple !== undefined) tuples.set(`${tuple.object}#${tuple.relation}@${tuple.user}`, tuple)
  }
  return [...tuples.values()]
}

const persons = subjectTypes.flatMap((type) => [`${type}:0`, `${type}:1`])

/** Mostly one that the model allows, in `people` of 100 cases of a person; sometimes one written under another model. */
export function randomTuple(
  random: Random,
  model: AuthorizationModel,
  objects: readonly string[],
  people = 40,
): TupleKey | undefined {
  const object = random.pick(objects)
  const relation = random.chance(25) ? "parent" : random.pick(relationNames)
  if (random.chance(8)) {
    const user = random.pick([
      ...persons,
      "user:*",
      random.pick(objects),
      `${random.pick(objects)}#${random.pick(relationNames)}`,
    ])
    return { object, relation, user, ...(random.chance(20) ? { condition: { name: "small" } } : {}) }
  }
  const definition = model.type_definitions.find(({ type }) => type === object.split(":")[0])
  const restrictions = definition?.metadata?.relations?.[relation]?.directly_related_user_types ?? []
  if (restrictions.length === 0) return undefined
  const personal = random.chance(people)
  const preferred = restrictions.filter((restriction) => subjectTypes.includes(restriction.type) === personal)
  const {
    type,
    relation: userRelation,
    wildcard,
    condition,
  } = random.pick(preferred.length > 0 ? preferred : restrictions)
  const candidates = [...objects, ...persons].filter((candidate) => candidate.startsWith(`${type}:`))
  const single = random.pick(candidates)
  const user =
    wildcard !== undefined ? `${type}:*` : userRelation === undefined ? single : `${single}#${userRelation}`
  if (condition === undefined) return { object, relation, user }
  const context = random.chance(50) ? randomContext(random) : undefined
  const fitting =
    context === undefined
      ? undefined
      : Object.fromEntries(
          Object.entries(context).filter(([name]) => (name === "x") === (condition === "small")),
        )
  return {
    object,
    relation,
    user,
    condition: { name: condition, ...(fitting === undefined ? {} : { context: fitting }) },
  }
}
