import type { ModelPlan } from "../../runtime/plan/authorization-model.ts"
import type { ShownEdge, ShownType } from "./protocol.ts"

/** The types of a model with their relations, in the order of the model. */
export function typesOf({ model }: ModelPlan): ShownType[] {
  return model.type_definitions.map(({ type, relations = {} }) => ({
    name: type,
    relations: Object.keys(relations),
  }))
}

/** Who can be named by the relations of a type in tuples. Relations between the same two are one edge. */
export function edgesOf({ model }: ModelPlan): ShownEdge[] {
  const edges = new Map<string, { from: string; to: string; relations: string[] }>()
  for (const { type, metadata } of model.type_definitions)
    for (const [relation, { directly_related_user_types: users = [] }] of Object.entries(
      metadata?.relations ?? {},
    ))
      for (const { type: from } of users) {
        const key = `${from} ${type}`
        const edge = edges.get(key) ?? { from, to: type, relations: [] }
        if (!edge.relations.includes(relation)) edge.relations.push(relation)
        edges.set(key, edge)
      }
  return [...edges.values()]
}
