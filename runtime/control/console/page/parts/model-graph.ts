import type { AuthorizationModel, Userset } from "../../../../plan/authorization-model.ts"
import type { GraphEdge, GraphNode, GraphTone } from "./graph-layout.ts"

/** What `Graph` draws. */
export interface ModelDrawing {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
}

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

/** The types of a model as boxes with their relations; the ids of lines are `type#relation`. A relation of objects of its own type has a mark instead of an edge. `tones`: by these ids. */
export function typeGraphOf(
  model: AuthorizationModel,
  tones: ReadonlyMap<string, GraphTone> = new Map(),
): ModelDrawing {
  const edges = typeEdgesOf(model)
  const own = new Set(
    edges.flatMap(({ from, to, relations }) => (from === to ? relations.map((each) => `${to}#${each}`) : [])),
  )
  const nodes = model.type_definitions.map(({ type, relations = {} }) => ({
    id: type,
    title: type,
    lines: Object.keys(relations).map((relation) => {
      const id = `${type}#${relation}`
      return { id, text: own.has(id) ? `${relation} ↺` : relation, tone: tones.get(id) }
    }),
  }))
  return {
    nodes,
    // The only relation between two types is named in the box: many such labels hide the drawing.
    edges: edges.map(({ from, to, relations }) => ({
      ...{ from, to, label: shortened(relations) },
      isLabelQuiet: relations.length === 1,
    })),
  }
}

/** The first relations of an edge: the boxes have all of them. */
function shortened(relations: readonly string[]): string {
  const more = relations.length - 2
  return relations.slice(0, 2).join(", ") + (more > 0 ? ` +${more}` : "")
}

/** A part of how a relation is computed. `how`: `or`, `and`, `but not`, as it is combined with the others. */
interface PathPart {
  /** `user`, `user:*`, `group#member`, or `doc#owner`: who has the part. */
  readonly from: string
  readonly label: string
  readonly isTakenAway: boolean
}

/** Relations of a drawing of paths, at most: larger ones cannot be read. */
const pathNodesMax = 150

/**
 * How users get one relation (`doc#viewer`): it, all that it is computed from, and the users whom tuples name there. Edges lead to the relation, with what has to
 * be between. Undefined: the model has no such relation. `isCut`: there was more.
 */
export function pathGraphOf(
  model: AuthorizationModel,
  relation: string,
): (ModelDrawing & { readonly isCut: boolean }) | undefined {
  const types = new Map(model.type_definitions.map((each) => [each.type, each]))
  const partsOf = (id: string): readonly PathPart[] | undefined => {
    const [type = "", name = ""] = id.split("#")
    const definition = types.get(type)
    const rewrite = definition?.relations?.[name]
    return rewrite === undefined || definition === undefined
      ? undefined
      : partsOfRewrite(definition, name, rewrite)
  }
  if (partsOf(relation) === undefined) return undefined
  const seen = new Set([relation])
  const waiting = [relation]
  const edges = new Map<string, { from: string; to: string; labels: string[]; dashed: boolean }>()
  let isCut = false
  for (let to = waiting.shift(); to !== undefined; to = waiting.shift())
    for (const { from, label, isTakenAway } of partsOf(to) ?? []) {
      if (!seen.has(from) && seen.size >= pathNodesMax) {
        isCut = true
        continue
      }
      if (!seen.has(from)) {
        seen.add(from)
        waiting.push(from)
      }
      const edge = edges.get(`${from} ${to}`) ?? { from, to, labels: [], dashed: true }
      if (!edge.labels.includes(label)) edge.labels.push(label)
      edge.dashed &&= isTakenAway
      edges.set(`${from} ${to}`, edge)
    }
  return {
    isCut,
    nodes: [...seen].map((id) => ({
      id,
      title: id,
      ...(id.includes("#") ? {} : { tone: "quiet" as const }),
    })),
    edges: [...edges.values()].map(({ from, to, labels, dashed }) => ({
      ...{ from, to, dashed, label: labels.join(", ") },
      ...(dashed ? { tone: "bad" as const } : {}),
    })),
  }
}

type TypeRows = AuthorizationModel["type_definitions"][number]

function partsOfRewrite(
  definition: TypeRows,
  relation: string,
  rewrite: Userset,
  how = "",
  isTakenAway = false,
): PathPart[] {
  const { type, metadata } = definition
  const part = (from: string, word: string): PathPart => ({
    ...{ from, isTakenAway },
    label: [how, word].filter(Boolean).join(" "),
  })
  const inner = (each: Userset, word: string, away = isTakenAway) =>
    partsOfRewrite(definition, relation, each, word, away)
  const directly = (name: string) => metadata?.relations?.[name]?.directly_related_user_types ?? []
  if ("this" in rewrite)
    return directly(relation).map(({ type: user, relation: of, wildcard, condition }) =>
      part(
        of === undefined ? (wildcard === undefined ? user : `${user}:*`) : `${user}#${of}`,
        condition === undefined ? "by a tuple" : `by a tuple with ${condition}`,
      ),
    )
  if ("computedUserset" in rewrite) return [part(`${type}#${rewrite.computedUserset.relation}`, "")]
  if ("tupleToUserset" in rewrite) {
    const { tupleset, computedUserset } = rewrite.tupleToUserset
    return directly(tupleset.relation).map(({ type: parent }) =>
      part(`${parent}#${computedUserset.relation}`, `from ${tupleset.relation}`),
    )
  }
  if ("union" in rewrite) return rewrite.union.child.flatMap((each) => inner(each, how))
  if ("intersection" in rewrite) return rewrite.intersection.child.flatMap((each) => inner(each, "and"))
  const { base, subtract } = rewrite.difference
  return [...inner(base, how), ...inner(subtract, "but not", true)]
}
