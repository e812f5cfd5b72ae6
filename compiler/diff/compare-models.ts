import type {
  AuthorizationModel,
  Condition,
  RelationReference,
  TypeDefinition,
  Userset,
} from "../../runtime/plan/authorization-model.ts"
import { type Change, type Risk, worse } from "./change.ts"
import { relationWords, restrictionWords } from "./relation-words.ts"
import { listChanges, pairs, same } from "./same.ts"

/** What becomes of the answers of a store when its model changes. Order of types and relations means nothing. */
export function compareModels(
  store: string,
  before: AuthorizationModel,
  after: AuthorizationModel,
): Change[] {
  const typesOf = (model: AuthorizationModel) =>
    Object.fromEntries(model.type_definitions.map((definition) => [definition.type, definition]))
  return [
    ...pairs(typesOf(before), typesOf(after)).flatMap(({ key, old, next }) =>
      compareTypes(store, key, old, next),
    ),
    ...pairs(before.conditions ?? {}, after.conditions ?? {}).flatMap(({ key, old, next }) =>
      compareConditions(store, key, old, next),
    ),
  ]
}

function compareTypes(
  store: string,
  name: string,
  old: TypeDefinition | undefined,
  next: TypeDefinition | undefined,
): Change[] {
  const subject = { kind: "type", store, name } as const
  if (old === undefined)
    return [
      {
        subject,
        action: "added",
        what: "new type",
        risk: "neutral",
        why: "nothing refers to objects of it yet",
      },
    ]
  if (next === undefined)
    return [
      {
        subject,
        action: "removed",
        what: "type is gone",
        risk: "breaking",
        why: "its tuples stop counting, and questions about it are errors",
      },
    ]
  return pairs(relationsOf(old), relationsOf(next)).flatMap(({ key, old, next }) =>
    compareRelations(store, `${name}#${key}`, old, next),
  )
}

interface Relation {
  readonly userset: Userset
  readonly direct: readonly RelationReference[]
}

function relationsOf(definition: TypeDefinition): Record<string, Relation> {
  const direct = definition.metadata?.relations ?? {}
  return Object.fromEntries(
    Object.entries(definition.relations ?? {}).map(([name, userset]) => [
      name,
      { userset, direct: direct[name]?.directly_related_user_types ?? [] },
    ]),
  )
}

function compareRelations(
  store: string,
  name: string,
  old: Relation | undefined,
  next: Relation | undefined,
): Change[] {
  const subject = { kind: "relation", store, name } as const
  const words = ({ userset, direct }: Relation) => relationWords(userset, direct)
  if (old === undefined && next !== undefined)
    return [
      {
        subject,
        action: "added",
        what: `new relation: ${words(next)}`,
        risk: "neutral",
        why: "nobody has it until tuples say so",
      },
    ]
  if (next === undefined || old === undefined)
    return [
      {
        subject,
        action: "removed",
        what: "relation is gone",
        risk: "breaking",
        why: "its tuples stop counting, and questions about it are errors",
      },
    ]
  const found = [...directChanges(old, next), ...rewriteChanges(old.userset, next.userset)]
  if (found.length === 0) return []
  const what = words(old) === words(next) ? words(next) : `${words(old)} → ${words(next)}`
  return [
    {
      subject,
      action: "changed",
      what,
      risk: found.map(({ risk }) => risk).reduce(worse),
      why: [...new Set(found.map(({ why }) => why))].join("; "),
    },
  ]
}

interface Effect {
  readonly risk: Risk
  readonly why: string
}

function directChanges(old: Relation, next: Relation): Effect[] {
  const { added, removed } = listChanges(old.direct, next.direct)
  const effects: Effect[] = []
  if (added.length > 0)
    effects.push({ risk: "opens", why: `may be given to ${added.map(restrictionWords).join(", ")}` })
  if (removed.length > 0)
    effects.push({
      risk: "closes",
      why: `tuples for ${removed.map(restrictionWords).join(", ")} stop counting`,
    })
  return effects
}

/** A union's new part opens, an intersection's closes. What is neither is called opening: a reviewer has to look. */
function rewriteChanges(old: Userset, next: Userset): Effect[] {
  if (same(sorted(old), sorted(next))) return []
  if ("difference" in old && "difference" in next) {
    const base = rewriteChanges(old.difference.base, next.difference.base)
    const subtracted = rewriteChanges(old.difference.subtract, next.difference.subtract).map(turned)
    return [...base, ...subtracted]
  }
  if ("difference" in next && same(sorted(next.difference.base), sorted(old)))
    return [{ risk: "closes", why: "some are excluded now" }]
  if ("difference" in old && same(sorted(old.difference.base), sorted(next)))
    return [{ risk: "opens", why: "nobody is excluded any more" }]
  if (isIntersection(old) || isIntersection(next)) return intersectionChanges(old, next)
  const { added, removed } = listChanges(partsOf(old, "union"), partsOf(next, "union"))
  const effects: Effect[] = []
  if (added.length > 0) effects.push({ risk: "opens", why: "there is another way to have it" })
  if (removed.length > 0) effects.push({ risk: "closes", why: "a way to have it is gone" })
  return effects
}

function intersectionChanges(old: Userset, next: Userset): Effect[] {
  const { added, removed } = listChanges(partsOf(old, "intersection"), partsOf(next, "intersection"))
  if (removed.length === 0) return [{ risk: "closes", why: "more is demanded" }]
  if (added.length === 0) return [{ risk: "opens", why: "less is demanded" }]
  return [{ risk: "opens", why: "something else is demanded" }]
}

/** Who is excluded more is let in less. */
function turned({ risk }: Effect): Effect {
  return risk === "opens"
    ? { risk: "closes", why: "more are excluded" }
    : { risk: "opens", why: "fewer are excluded" }
}

function isIntersection(userset: Userset): boolean {
  return "intersection" in userset
}

function partsOf(userset: Userset, kind: "union" | "intersection"): readonly Userset[] {
  const whole = sorted(userset)
  if (kind === "union" && "union" in whole) return whole.union.child
  if (kind === "intersection" && "intersection" in whole) return whole.intersection.child
  return [whole]
}

/** The order of a union's or intersection's parts means nothing. */
function sorted(userset: Userset): Userset {
  if ("union" in userset) return { union: { child: inOrder(userset.union.child) } }
  if ("intersection" in userset) return { intersection: { child: inOrder(userset.intersection.child) } }
  if (!("difference" in userset)) return userset
  return {
    difference: { base: sorted(userset.difference.base), subtract: sorted(userset.difference.subtract) },
  }
}

function inOrder(children: readonly Userset[]): Userset[] {
  const keyed = children.map((child) => [JSON.stringify(sorted(child)), sorted(child)] as const)
  return keyed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, child]) => child)
}

function compareConditions(
  store: string,
  name: string,
  old: Condition | undefined,
  next: Condition | undefined,
): Change[] {
  const subject = { kind: "condition", store, name } as const
  if (old === undefined)
    return [
      {
        subject,
        action: "added",
        what: `new condition: ${next?.expression ?? ""}`,
        risk: "neutral",
        why: "no tuple has it yet",
      },
    ]
  if (next === undefined)
    return [
      {
        subject,
        action: "removed",
        what: "condition is gone",
        risk: "breaking",
        why: "tuples with it stop counting",
      },
    ]
  const [before, after] = [content(old), content(next)]
  if (same(before, after)) return []
  const what =
    old.expression === next.expression ? "parameters have changed" : `${old.expression} → ${next.expression}`
  return [
    {
      subject,
      action: "changed",
      what,
      risk: "opens",
      why: "tuples with it may count where they did not, and the other way",
    },
  ]
}

function content({ expression, parameters }: Condition): object {
  return { expression, parameters: parameters ?? {} }
}
