import type { AuthorizationModel, Userset } from "../../runtime/plan/authorization-model.ts"
import { canonicalJson } from "../../runtime/plan/canonical.ts"

/**
 * The model in the canonical order of plans: types by name, restrictions and the operands of unions and intersections in a fixed order. So
 * moving a definition changes no digest and does not create a new model in the store. A relation's direct types stay the first operand, as the
 * text language requires.
 */
export function modelInOrder(model: AuthorizationModel): AuthorizationModel {
  const types = model.type_definitions.map(({ relations, metadata, ...definition }) => ({
    ...definition,
    ...(relations === undefined ? {} : { relations: mapValues(relations, usersetInOrder) }),
    ...(metadata === undefined
      ? {}
      : {
          metadata: {
            ...metadata,
            ...(metadata.relations === undefined
              ? {}
              : { relations: mapValues(metadata.relations, restrictionsInOrder) }),
          },
        }),
  }))
  return { ...model, type_definitions: types.sort((a, b) => compare(a.type, b.type)) }
}

type RelationMetadata = NonNullable<
  NonNullable<AuthorizationModel["type_definitions"][number]["metadata"]>["relations"]
>[string]

function restrictionsInOrder({
  directly_related_user_types: listed,
  ...more
}: RelationMetadata): RelationMetadata {
  return listed === undefined ? more : { ...more, directly_related_user_types: inOrder(listed, () => false) }
}

/** A definition in the canonical order of plans. */
export function usersetInOrder(userset: Userset): Userset {
  if ("union" in userset) return { union: { child: partsInOrder(userset.union.child) } }
  if ("intersection" in userset) return { intersection: { child: partsInOrder(userset.intersection.child) } }
  if (!("difference" in userset)) return userset
  const { base, subtract } = userset.difference
  return { difference: { base: usersetInOrder(base), subtract: usersetInOrder(subtract) } }
}

function partsInOrder(parts: readonly Userset[]): Userset[] {
  return inOrder(parts.map(usersetInOrder), takesDirectly)
}

function takesDirectly(userset: Userset): boolean {
  if ("union" in userset) return userset.union.child.some(takesDirectly)
  if ("intersection" in userset) return userset.intersection.child.some(takesDirectly)
  return "this" in userset || ("difference" in userset && takesDirectly(userset.difference.base))
}

function inOrder<Item>(items: readonly Item[], first: (item: Item) => boolean): Item[] {
  return items
    .map((item) => ({ item, key: `${first(item) ? 0 : 1}${canonicalJson(item)}` }))
    .sort((a, b) => compare(a.key, b.key))
    .map(({ item }) => item)
}

function mapValues<Value>(table: Record<string, Value>, map: (value: Value) => Value): Record<string, Value> {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, map(value)]))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
