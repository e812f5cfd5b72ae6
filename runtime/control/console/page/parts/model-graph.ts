import type { AuthorizationModel } from "../../../../plan/authorization-model.ts"
import type { GraphEdge, GraphNode } from "./graph-layout.ts"

/** Users of `from` can be named by these relations of the type `to`. */
export interface TypeEdge {
  readonly from: string
  readonly to: string
  readonly relations: readonly string[]
}

/** Who can be named by the relations of a type in tuples. Relations between the same two types are one edge. */
export function typeEdgesOf({ type_definitions: types }: AuthorizationModel): readonly TypeEdge[] {
  const edges = new Map<string, { from: string; to: string; relations: string[] }>()
  for (const { type, metadata } of types)
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

/** The types of a model as boxes with their relations; the ids of lines are `type#relation`. A relation of objects of its own type has a mark instead of an edge. */
export function typeGraphOf(model: AuthorizationModel): {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
} {
  const edges = typeEdgesOf(model)
  const own = new Set(
    edges.flatMap(({ from, to, relations }) => (from === to ? relations.map((each) => `${to}#${each}`) : [])),
  )
  const nodes = model.type_definitions.map(({ type, relations = {} }) => ({
    id: type,
    title: type,
    lines: Object.keys(relations).map((relation) => {
      const id = `${type}#${relation}`
      return { id, text: own.has(id) ? `${relation} ↺` : relation }
    }),
  }))
  return { nodes, edges: edges.map(({ from, to, relations }) => ({ from, to, label: shortened(relations) })) }
}

/** The first relations of an edge: the boxes have all of them. */
function shortened(relations: readonly string[]): string {
  const more = relations.length - 2
  return relations.slice(0, 2).join(", ") + (more > 0 ? ` +${more}` : "")
}
