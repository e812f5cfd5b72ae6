import { type LoadedModel, loadModel } from "../../runtime/check/loaded-model.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import type {
  AuthorizationModel,
  RelationReference,
  TypeDefinition,
  Userset,
} from "../../runtime/plan/authorization-model.ts"

/** A part of a model, and the model without it. */
export interface ModelPart {
  /** Undefined for a part of a condition. */
  readonly type: string | undefined
  readonly relation: string | undefined
  readonly condition: string | undefined
  /** The part as written: `user`, `or editor`, `and approved`, `but not blocked`, `viewer from parent`. */
  readonly text: string
  without(): LoadedModel
}

/**
 * The parts by which a model grants and denies: every type in a list, every operand of `or` and `and`, every `but not`, every computed
 * relation, and for every condition both results, true and false.
 */
export function partsOf(model: AuthorizationModel): ModelPart[] {
  const ofRelations = model.type_definitions.flatMap((definition, at) =>
    Object.entries(definition.relations ?? {}).flatMap(([relation, rewrite]) => {
      const changed = (over: Partial<TypeDefinition>): AuthorizationModel => ({
        ...model,
        type_definitions: model.type_definitions.with(at, { ...definition, ...over }),
      })
      const replace = (other: Userset): AuthorizationModel =>
        changed({ relations: { ...definition.relations, [relation]: other } })
      const parts = [
        ...partsOfList(definition, relation, changed),
        ...partsOfRewrite(rewrite).map(({ text, without }) => ({ text, model: replace(without) })),
      ]
      return parts.map((part) => ({ type: definition.type, relation, condition: undefined, ...lazily(part) }))
    }),
  )
  const ofConditions = Object.entries(model.conditions ?? {}).flatMap(([name, condition]) =>
    ["true", "false"].map((expression) => {
      const conditions = { ...model.conditions, [name]: { ...condition, expression } }
      const part = { text: `saying ${expression === "true" ? "no" : "yes"}`, model: { ...model, conditions } }
      return { type: undefined, relation: undefined, condition: name, ...lazily(part) }
    }),
  )
  return [...ofRelations, ...ofConditions]
}

function lazily({
  text,
  model,
}: {
  text: string
  model: AuthorizationModel
}): Pick<ModelPart, "text" | "without"> {
  return { text, without: () => loadModel(lowerModel(model)) }
}

/** Each type of the list as one part. */
function partsOfList(
  definition: TypeDefinition,
  relation: string,
  changed: (over: Partial<TypeDefinition>) => AuthorizationModel,
): { text: string; model: AuthorizationModel }[] {
  const { metadata } = definition
  const own = new Map(Object.entries(metadata?.relations ?? {})).get(relation)
  const listed = own?.directly_related_user_types ?? []
  return listed.map((reference, at) => {
    const rest = { ...own, directly_related_user_types: listed.toSpliced(at, 1) }
    const relations = { ...metadata?.relations, [relation]: rest }
    return { text: `[${referenceText(reference)}]`, model: changed({ metadata: { ...metadata, relations } }) }
  })
}

interface RewritePart {
  readonly text: string
  readonly without: Userset
}

/** A relation without any users: it is computed from a name that no model can define. */
const nobody: Userset = { computedUserset: { relation: "" } }

/** The rewrite without each of its parts in turn. A list of types is not a part itself, but its types are. */
function partsOfRewrite(rewrite: Userset): RewritePart[] {
  if ("this" in rewrite) return []
  if ("computedUserset" in rewrite || "tupleToUserset" in rewrite)
    return [{ text: textOf(rewrite), without: nobody }]
  if ("difference" in rewrite) {
    const { base, subtract } = rewrite.difference
    return [
      ...inside(base, (other) => ({ difference: { base: other, subtract } })),
      { text: `but not ${textOf(subtract)}`, without: base },
      // A single relation after `but not` is the same part as the `but not` itself.
      ...(isLeaf(subtract) ? [] : inside(subtract, (other) => ({ difference: { base, subtract: other } }))),
    ]
  }
  const union = "union" in rewrite
  const children = union ? rewrite.union.child : rewrite.intersection.child
  const of = (child: Userset[]): Userset => (union ? { union: { child } } : { intersection: { child } })
  return children.flatMap((child, at) => [
    ...(union && "this" in child
      ? []
      : [{ text: operandText(child, at, union), without: of(children.toSpliced(at, 1)) }]),
    ...(isLeaf(child) ? [] : inside(child, (other) => of(children.with(at, other)))),
  ])
}

function inside(rewrite: Userset, around: (other: Userset) => Userset): RewritePart[] {
  return partsOfRewrite(rewrite).map(({ text, without }) => ({ text, without: around(without) }))
}

function operandText(child: Userset, at: number, union: boolean): string {
  if (union) return at === 0 ? textOf(child) : `or ${textOf(child)}`
  return at === 0 ? `${textOf(child)} and` : `and ${textOf(child)}`
}

function isLeaf(rewrite: Userset): boolean {
  return "this" in rewrite || "computedUserset" in rewrite || "tupleToUserset" in rewrite
}

/** A part as text, for the list of what no test covers. */
function textOf(rewrite: Userset): string {
  if ("this" in rewrite) return "[…]"
  if ("computedUserset" in rewrite) return rewrite.computedUserset.relation
  if ("tupleToUserset" in rewrite) {
    const { tupleset, computedUserset } = rewrite.tupleToUserset
    return `${computedUserset.relation} from ${tupleset.relation}`
  }
  if ("difference" in rewrite)
    return `(${textOf(rewrite.difference.base)} but not ${textOf(rewrite.difference.subtract)})`
  if ("union" in rewrite) return `(${rewrite.union.child.map(textOf).join(" or ")})`
  return `(${rewrite.intersection.child.map(textOf).join(" and ")})`
}

function referenceText({ type, relation, wildcard, condition }: RelationReference): string {
  const subject =
    wildcard === undefined ? (relation === undefined ? type : `${type}#${relation}`) : `${type}:*`
  return condition === undefined ? subject : `${subject} with ${condition}`
}
