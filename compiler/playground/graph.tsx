import { Graph as Layout, layout } from "@dagrejs/dagre"
import { store } from "./project.ts"
import type { ShownEdge, ShownStore, ShownType } from "./protocol.ts"

const lineHeight = 18
const characterWidth = 7.2

interface Box extends ShownType {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

interface Line extends ShownEdge {
  readonly points: readonly { readonly x: number; readonly y: number }[]
  readonly x: number
  readonly y: number
}

/** The types of the model with their relations, and which types the tuples of each may name. */
export default function Graph() {
  const known = store.value
  if (known === undefined) return <p class="quiet empty">There is no model without errors.</p>
  const { boxes, lines, width, height } = laidOut(known)
  // Relations that accept objects of their own type have a mark instead of an edge.
  const own = new Set(
    known.edges.flatMap(({ from, to, relations }) =>
      from === to ? relations.map((relation) => `${to} ${relation}`) : [],
    ),
  )
  return (
    <div class="graph">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard does not scroll the drawing (WCAG 2.1.1). */}
      <section class="drawing" tabIndex={0} aria-label="Graph of the model">
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img">
          <title>{`Types of ${known.name} and the users of their relations`}</title>
          {lines.map((line) => (
            <g key={`${line.from} ${line.to}`} class="edge">
              <path d={pathOf(line.points)} />
              <path class="tip" d={tipOf(line.points)} />
              <text x={line.x} y={line.y + 4} text-anchor="middle">
                {labelOf(line)}
              </text>
            </g>
          ))}
          {boxes.map(({ name, relations, x, y, width: wide, height: high }) => (
            <g key={name} class="type" transform={`translate(${x - wide / 2} ${y - high / 2})`}>
              <rect width={wide} height={high} rx="6" />
              <text class="name" x="10" y="19">
                {name}
              </text>
              {relations.map((relation, at) => (
                <text key={relation} x="10" y={40 + at * lineHeight}>
                  {own.has(`${name} ${relation}`) ? `${relation} ↺` : relation}
                </text>
              ))}
            </g>
          ))}
        </svg>
      </section>
      <details>
        <summary>As text</summary>
        <ul class="names">
          {known.edges.map((edge) => (
            <li key={`${edge.from} ${edge.to}`}>
              <code>{edge.from}</code> can be {edge.relations.join(", ")} of <code>{edge.to}</code>
            </li>
          ))}
        </ul>
      </details>
    </div>
  )
}

function laidOut({ types, edges: all }: ShownStore) {
  const edges = all.filter(({ from, to }) => from !== to)
  const graph = new Layout()
  graph.setGraph({ rankdir: "TB", nodesep: 28, ranksep: 40, marginx: 12, marginy: 12 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { name, relations } of types) {
    const longest = Math.max(...[name, ...relations].map(({ length }) => length))
    graph.setNode(name, {
      width: Math.max(90, longest * characterWidth + 24),
      height: 30 + relations.length * lineHeight + (relations.length > 0 ? 6 : 0),
    })
  }
  for (const edge of edges)
    graph.setEdge(edge.from, edge.to, { width: labelOf(edge).length * 6.5 + 8, height: 18, labelpos: "c" })
  layout(graph)
  const boxes = types.map(
    (type): Box => ({ ...type, ...(graph.node(type.name) as Omit<Box, keyof ShownType>) }),
  )
  const lines = edges.map(
    (edge): Line => ({
      ...edge,
      ...(graph.edge(edge.from, edge.to) as unknown as Omit<Line, keyof ShownEdge>),
    }),
  )
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  return { boxes, lines, width: Math.ceil(width), height: Math.ceil(height) }
}

/** The first relations of an edge: the box has all of them. */
function labelOf({ relations }: ShownEdge): string {
  const more = relations.length - 2
  return relations.slice(0, 2).join(", ") + (more > 0 ? ` +${more}` : "")
}

function pathOf(points: Line["points"]): string {
  return points.map(({ x, y }, at) => `${at === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join(" ")
}

/** The arrow's head at the last point. */
function tipOf(points: Line["points"]): string {
  const [from, to] = points.slice(-2)
  if (from === undefined || to === undefined) return ""
  const angle = Math.atan2(to.y - from.y, to.x - from.x)
  const corner = (turn: number) =>
    `${(to.x - 9 * Math.cos(angle + turn)).toFixed(1)} ${(to.y - 9 * Math.sin(angle + turn)).toFixed(1)}`
  return `M${to.x.toFixed(1)} ${to.y.toFixed(1)} L${corner(0.4)} L${corner(-0.4)} Z`
}
