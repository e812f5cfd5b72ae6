import type { BrokenParts } from "../../runtime/model/broken-parts.ts"
import type {
  AuthorizationModel,
  Condition,
  ConditionParameter,
  RelationReference,
  TypeDefinition,
  Userset,
} from "../../runtime/plan/authorization-model.ts"
import type {
  ConditionNode,
  ModelDocument,
  Origin,
  ParameterNode,
  RelationDefinition,
  Restriction,
  Rewrite,
  TypeNode,
} from "./ast.ts"

/** A model's JSON in canonical form, and the broken parts that are only kept for their names. */
export interface LoweredModel {
  readonly model: AuthorizationModel
  readonly broken: BrokenParts
}

/** Converts the tree to OpenFGA's JSON. Of duplicate definitions the first is used, except for types: all of them are kept. */
export function lowerModel({ header, types, conditions, namesMissing }: ModelDocument): LoweredModel {
  const lowered = entriesOf(conditions, (each) => each.name.text, lowerCondition)
  const model: AuthorizationModel = {
    schema_version: header?.kind === "model" ? header.schema.text : "",
    type_definitions: types.map(lowerType),
    ...(lowered === undefined ? {} : { conditions: lowered }),
  }
  const relations = types.flatMap((type) =>
    type.relations.flatMap(({ name, rewrite }) =>
      rewrite === undefined ? [`${type.name.text}#${name.text}`] : [],
    ),
  )
  const brokenConditions = conditions.flatMap(({ name, expression }) =>
    expression === undefined ? [name.text] : [],
  )
  const broken = { relations: new Set(relations), conditions: new Set(brokenConditions), types: namesMissing }
  return { model, broken }
}

/** A type as JSON. `metadata` has the list of types for each relation that has one. */
function lowerType(type: TypeNode): TypeDefinition {
  // Both maps use the first definition of a name: the list of a second definition does not belong to it.
  const names = new Set<string>()
  const first = type.relations.filter(({ name }) => !names.has(name.text) && names.add(name.text))
  const relations = entriesOf(first, nameOf, ({ rewrite }) => {
    return rewrite === undefined ? { this: {} } : lowerRewrite(rewrite)
  })
  const described = first.flatMap(({ name, rewrite, origin }) => {
    const listed = rewrite === undefined ? undefined : restrictionsOf(rewrite)
    return listed === undefined && origin === undefined ? [] : [{ name: name.text, listed, origin }]
  })
  const metadata = entriesOf(
    described,
    (each) => each.name,
    ({ listed, origin }) => ({
      ...(listed === undefined ? {} : { directly_related_user_types: listed.map(lowerRestriction) }),
      ...lowerOrigin(origin),
    }),
  )
  const place = lowerOrigin(type.origin)
  return {
    type: type.name.text,
    ...(relations === undefined ? {} : { relations }),
    ...(metadata === undefined && type.origin === undefined
      ? {}
      : { metadata: { ...(metadata === undefined ? {} : { relations: metadata }), ...place } }),
  }
}

function lowerOrigin(origin: Origin | undefined): { module?: string; source_info?: { file: string } } {
  return origin === undefined ? {} : { module: origin.module, source_info: { file: origin.file } }
}

/** A definition as JSON. A list of types becomes `this`. */
export function lowerRewrite(rewrite: Rewrite): Userset {
  if (rewrite.kind === "direct") return { this: {} }
  if (rewrite.kind === "computed") return { computedUserset: { relation: rewrite.relation.text } }
  if (rewrite.kind === "from") {
    const tupleset = { relation: rewrite.tupleset.text }
    return { tupleToUserset: { tupleset, computedUserset: { relation: rewrite.relation.text } } }
  }
  if (rewrite.kind === "exclusion") {
    return { difference: { base: lowerRewrite(rewrite.base), subtract: lowerRewrite(rewrite.subtract) } }
  }
  const child = rewrite.operands.map(lowerRewrite)
  return rewrite.kind === "union" ? { union: { child } } : { intersection: { child } }
}

/** One entry of the list as JSON. */
export function lowerRestriction({ type, relation, wildcard, condition }: Restriction): RelationReference {
  const reference: RelationReference = { type: type.text }
  if (relation !== undefined) reference.relation = relation.text
  if (wildcard) reference.wildcard = {}
  if (condition !== undefined) reference.condition = condition.text
  return reference
}

/** A condition as JSON. */
function lowerCondition({ name, expression, parameters, origin }: ConditionNode): Condition {
  const lowered = entriesOf(parameters, (each) => each.name.text, lowerParameter)
  return {
    name: name.text,
    expression: expression?.text ?? "",
    ...(lowered === undefined ? {} : { parameters: lowered }),
    ...(origin === undefined ? {} : { metadata: lowerOrigin(origin) }),
  }
}

function lowerParameter({ type, generic }: ParameterNode): ConditionParameter {
  const type_name = `TYPE_NAME_${type.toUpperCase()}`
  if (generic === undefined) return { type_name }
  return { type_name, generic_types: [{ type_name: `TYPE_NAME_${generic.toUpperCase()}` }] }
}

/** The list of types of a relation. The grammar allows only one. */
export function listOf(rewrite: Rewrite): Extract<Rewrite, { kind: "direct" }> | undefined {
  if (rewrite.kind === "direct") return rewrite
  if (rewrite.kind === "exclusion") return listOf(rewrite.base)
  if (rewrite.kind !== "union" && rewrite.kind !== "intersection") return undefined
  return rewrite.operands[0] === undefined ? undefined : listOf(rewrite.operands[0])
}

/** The entries of the list. */
export function restrictionsOf(rewrite: Rewrite): readonly Restriction[] | undefined {
  return listOf(rewrite)?.restrictions
}

function nameOf({ name }: RelationDefinition): string {
  return name.text
}

/** A JSON map in the order of definition, with the first of each name. Undefined when empty. Even `__proto__` becomes an own key. */
function entriesOf<Item, Value>(
  items: readonly Item[],
  nameOfItem: (item: Item) => string,
  lower: (item: Item) => Value,
): Record<string, Value> | undefined {
  if (items.length === 0) return undefined
  const entries = new Map<string, Value>()
  for (const item of items) {
    const name = nameOfItem(item)
    if (!entries.has(name)) entries.set(name, lower(item))
  }
  return Object.fromEntries(entries)
}
