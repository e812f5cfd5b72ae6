import { Graph as Layout, layout } from "@dagrejs/dagre"

/** What a colour says beside the words: `quiet` steps back. */
export type GraphTone = "good" | "bad" | "warn" | "quiet"

/** A line in the box of a node. Ids are unique among all nodes and lines of a graph. */
export interface GraphLine {
  readonly id: string
  readonly text: string
  readonly tone?: GraphTone | undefined
}

/** A box. `label`: its name for screen readers, where the title alone is not enough. */
export interface GraphNode {
  readonly id: string
  readonly title: string
  readonly label?: string | undefined
  readonly lines?: readonly GraphLine[]
  readonly tone?: GraphTone | undefined
}

/** An arrow between two nodes, by their ids. There is at most one for each direction. */
export interface GraphEdge {
  readonly from: string
  readonly to: string
  readonly label?: string | undefined
  readonly tone?: GraphTone | undefined
  /** Drawn with dashes: what is taken away, or does not hold. */
  readonly dashed?: boolean | undefined
  /** The label is shown while a mouse is over the edge, or one of its nodes is in focus. */
  readonly isLabelQuiet?: boolean | undefined
}

/** Something that can be chosen: the title or a line of a node. Its middle is `x`, `y`. */
export interface GraphSpot {
  readonly id: string
  readonly text: string
  readonly label: string
  readonly tone: GraphTone | undefined
  readonly isTitle: boolean
  readonly x: number
  readonly y: number
  readonly width: number
}

/** A node with its place: `x` and `y` are the left upper corner, in pixels without zoom. */
export interface PlacedNode {
  readonly node: GraphNode
  readonly spots: readonly GraphSpot[]
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** An edge with its points; `x` and `y` are the middle of its label. */
export interface PlacedEdge {
  readonly edge: GraphEdge
  readonly points: readonly { readonly x: number; readonly y: number }[]
  readonly x: number
  readonly y: number
}

/** A graph with places for everything, in pixels without zoom. */
export interface PlacedGraph {
  readonly nodes: readonly PlacedNode[]
  readonly edges: readonly PlacedEdge[]
  readonly width: number
  readonly height: number
}

/** Height of a title or line: the least that a finger hits (WCAG 2.5.8). */
export const spotHeight = 24
const padding = 6
const characterWidth = 7.3
const titleCharacterWidth = 8.4
const labelCharacterWidth = 6.4
/** Longer texts are cut; the whole text is in the label. */
const charactersMax = 44

/** Places nodes in ranks, so that edges point down (`TB`) or to the right (`LR`). Edges to unknown nodes and to the own node are left out. */
export function placed(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
  direction: "TB" | "LR",
): PlacedGraph {
  const known = new Set(nodes.map(({ id }) => id))
  const drawn = edges.filter(({ from, to }) => from !== to && known.has(from) && known.has(to))
  const graph = new Layout()
  graph.setGraph({ rankdir: direction, nodesep: 24, ranksep: 36, marginx: 16, marginy: 16 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const node of nodes) graph.setNode(node.id, sizeOf(node))
  for (const { from, to, label = "" } of drawn)
    graph.setEdge(from, to, { width: label.length * labelCharacterWidth + 10, height: 20, labelpos: "c" })
  layout(graph)
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  return {
    nodes: nodes.map((node) => placedNode(node, graph.node(node.id) as Box)),
    edges: drawn.map((edge) => ({ edge, ...(graph.edge(edge.from, edge.to) as unknown as Line) })),
    width: Math.ceil(width),
    height: Math.ceil(height),
  }
}

type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number }
type Line = Omit<PlacedEdge, "edge">

function sizeOf({ title, lines = [] }: GraphNode): { width: number; height: number } {
  const widths = lines.map(({ text }) => cut(text).length * characterWidth)
  return {
    width: Math.max(64, cut(title).length * titleCharacterWidth, ...widths) + 24,
    height: (1 + lines.length) * spotHeight + 2 * padding,
  }
}

function placedNode(node: GraphNode, { x, y, width, height }: Box): PlacedNode {
  const { id, title, label = title, lines = [], tone } = node
  const top = y - height / 2
  const rows = [
    { id, text: title, label, tone, isTitle: true },
    ...lines.map((line) => ({ ...line, tone: line.tone, label: `${label}: ${line.text}`, isTitle: false })),
  ]
  return {
    ...{ node, x: x - width / 2, y: top, width, height },
    spots: rows.map((row, at) => ({
      ...row,
      text: cut(row.text),
      x,
      y: top + padding + (at + 0.5) * spotHeight,
      width,
    })),
  }
}

function cut(text: string): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax - 1)}…` : text
}

/** The node and all nodes from which it can be reached, or that it reaches. */
export function connected(id: string, edges: readonly GraphEdge[]): ReadonlySet<string> {
  const found = new Set<string>([id])
  for (const [here, there] of [
    ["from", "to"],
    ["to", "from"],
  ] as const) {
    const open = [id]
    const seen = new Set(open)
    for (let next = open.pop(); next !== undefined; next = open.pop())
      for (const edge of edges)
        if (edge[here] === next && !seen.has(edge[there])) {
          seen.add(edge[there])
          open.push(edge[there])
        }
    for (const each of seen) found.add(each)
  }
  return found
}

/** The spot that an arrow key reaches: the nearest in its direction, where the way to the side counts double. */
export function neighbour(spots: readonly GraphSpot[], from: GraphSpot, key: string): GraphSpot | undefined {
  const ways: Readonly<Record<string, readonly [number, number]>> = {
    ArrowRight: [1, 0],
    ArrowLeft: [-1, 0],
    ArrowDown: [0, 1],
    ArrowUp: [0, -1],
  }
  const way = ways[key]
  if (way === undefined) return undefined
  let best: { readonly spot: GraphSpot; readonly cost: number } | undefined
  for (const spot of spots) {
    const [dx, dy] = [spot.x - from.x, spot.y - from.y]
    const ahead = dx * way[0] + dy * way[1]
    const aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0])
    if (ahead < 1) continue
    const cost = ahead + 2 * aside
    if (best === undefined || cost < best.cost) best = { spot, cost }
  }
  return best?.spot
}
