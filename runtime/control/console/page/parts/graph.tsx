import { useSignal } from "@preact/signals"
import { useEffect, useMemo, useRef } from "preact/hooks"
import {
  connected,
  type GraphEdge,
  type GraphNode,
  type GraphSpot,
  neighbour,
  type PlacedEdge,
  type PlacedGraph,
  type PlacedNode,
  placed,
  spotHeight,
} from "./graph-layout.ts"
import { useDragging, useZoom } from "./graph-view.ts"

/** A drawing of nodes and edges. */
export interface GraphProps {
  /** Names the drawing for screen readers. */
  readonly label: string
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
  /** Where edges point: down (`TB`, default) or to the right. */
  readonly direction?: "TB" | "LR"
  /** Id of the node or line in focus: the view moves to it, and what is not connected with its node fades. */
  readonly selected?: string | undefined
  /** Absent: nothing can be chosen. Undefined: the focus is taken away. */
  readonly onSelect?: ((id: string | undefined) => void) | undefined
}

/**
 * Draws nodes and edges that dagre lays out. It scrolls as every part of a page does, so fingers, wheels and the keyboard move it; a mouse can drag it.
 * `+`, `-` and `0`, buttons, and the wheel with Ctrl zoom. Arrow keys go from node to node, Enter chooses, Escape takes the focus away.
 */
export function Graph({ label, nodes, edges, direction = "TB", selected, onSelect }: GraphProps) {
  const graph = useMemo(() => placed(nodes, edges, direction), [nodes, edges, direction])
  const view = useRef<HTMLElement>(null)
  const { zoom, by, showAll } = useZoom(view, graph)
  const wasDragged = useDragging(view)
  const owner = graph.nodes.find(({ spots }) => spots.some(({ id }) => id === selected))
  const lit = owner === undefined ? undefined : connected(owner.node.id, edges)
  // A drawing that is larger than its place opens as a whole; what is in focus opens in its natural size.
  useEffect(() => {
    if (owner === undefined) showAll()
  }, [label])
  useEffect(() => {
    if (owner !== undefined) show(view.current, owner, zoom.peek())
  }, [graph, owner?.node.id])
  const isFaded = (id: string) => lit !== undefined && !lit.has(id)
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === "+") by(1.25)
    else if (event.key === "-") by(0.8)
    else if (event.key === "0") showAll()
    else return
    event.preventDefault()
  }
  return (
    <div class="graph">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard does not scroll the drawing (WCAG 2.1.1). */}
      <section class="drawing" tabIndex={0} aria-label={label} ref={view} onKeyDown={onKeyDown}>
        <svg
          width={Math.round(graph.width * zoom.value)}
          height={Math.round(graph.height * zoom.value)}
          viewBox={`0 0 ${graph.width} ${graph.height}`}
          role={onSelect === undefined ? "img" : "group"}
          aria-label={label}
        >
          {graph.edges.map((each) => (
            <Edge
              key={`${each.edge.from} ${each.edge.to}`}
              placed={each}
              isFaded={isFaded(each.edge.from) || isFaded(each.edge.to)}
              isLit={owner !== undefined && [each.edge.from, each.edge.to].includes(owner.node.id)}
            />
          ))}
          <Nodes {...{ graph, selected, isFaded }} {...(onSelect && { onSelect, wasDragged })} />
        </svg>
      </section>
      <fieldset class="graph-tools" aria-label="Zoom">
        <button type="button" aria-label="Zoom out" onClick={() => by(0.8)}>
          −
        </button>
        <button type="button" aria-label="Zoom in" onClick={() => by(1.25)}>
          +
        </button>
        <button type="button" onClick={showAll}>
          Fit
        </button>
        <span class="quiet">{`${Math.round(zoom.value * 100)} %`}</span>
      </fieldset>
    </div>
  )
}

/** All nodes. One of their titles and lines is a stop of the Tab key; the arrow keys reach the others. */
function Nodes(props: {
  readonly graph: PlacedGraph
  readonly selected: string | undefined
  readonly isFaded: (id: string) => boolean
  readonly onSelect?: (id: string | undefined) => void
  readonly wasDragged?: () => boolean
}) {
  const { graph, selected, isFaded, onSelect, wasDragged } = props
  const active = useSignal<string | undefined>(undefined)
  const spots = useMemo(() => graph.nodes.flatMap((node) => node.spots), [graph])
  const group = useRef<SVGGElement>(null)
  const stop = [active.value, selected].find((id) => spots.some((spot) => spot.id === id)) ?? spots[0]?.id
  const onKeyDown = (event: KeyboardEvent, spot: GraphSpot) => {
    const next = neighbour(spots, spot, event.key)
    if (next !== undefined) {
      active.value = next.id
      const at = spots.indexOf(next)
      group.current?.querySelectorAll<SVGElement>("[role=button]")[at]?.focus()
    } else if (event.key === "Enter" || event.key === " ") onSelect?.(spot.id)
    else if (event.key === "Escape") onSelect?.(undefined)
    else return
    event.preventDefault()
  }
  return (
    <g ref={group}>
      {graph.nodes.map((each) => (
        <g key={each.node.id} class={classOf("node", each.node.tone, isFaded(each.node.id))}>
          <rect x={each.x} y={each.y} width={each.width} height={each.height} rx="6" />
          {each.spots.map((spot) =>
            onSelect === undefined ? (
              <SpotText key={spot.id} spot={spot} />
            ) : (
              <SpotButton
                key={spot.id}
                spot={spot}
                isSelected={spot.id === selected}
                isStop={spot.id === stop}
                onFocus={() => (active.value = spot.id)}
                onKeyDown={(event) => onKeyDown(event, spot)}
                onClick={() => {
                  if (wasDragged?.() !== true) onSelect(spot.id === selected ? undefined : spot.id)
                }}
              />
            ),
          )}
        </g>
      ))}
    </g>
  )
}

function SpotButton(props: {
  readonly spot: GraphSpot
  readonly isSelected: boolean
  readonly isStop: boolean
  onFocus(): void
  onKeyDown(event: KeyboardEvent): void
  onClick(): void
}) {
  const { spot, isSelected, isStop } = props
  return (
    // biome-ignore lint/a11y/useSemanticElements: SVG has no button.
    <g
      class={isSelected ? "spot selected" : "spot"}
      role="button"
      aria-label={spot.label}
      aria-pressed={isSelected}
      tabIndex={isStop ? 0 : -1}
      onFocus={props.onFocus}
      onKeyDown={props.onKeyDown}
      onClick={props.onClick}
    >
      <rect
        x={spot.x - spot.width / 2 + 3}
        y={spot.y - spotHeight / 2}
        width={spot.width - 6}
        height={spotHeight}
        rx="4"
      />
      <SpotText spot={spot} />
    </g>
  )
}

function SpotText({ spot: { x, y, width, text, tone, isTitle } }: { readonly spot: GraphSpot }) {
  return (
    <text class={classOf(isTitle ? "name" : "line", tone, false)} x={x - width / 2 + 12} y={y + 4}>
      {text}
    </text>
  )
}

function Edge({
  placed: { edge, points, x, y },
  isFaded,
  isLit,
}: {
  readonly placed: PlacedEdge
  readonly isFaded: boolean
  readonly isLit: boolean
}) {
  const label = edge.isLabelQuiet === true && !isLit ? "edge quiet-label" : "edge"
  return (
    <g class={classOf(label, edge.tone, isFaded)}>
      {edge.isLabelQuiet && <path class="reach" d={pathOf(points)} />}
      <path class={edge.dashed ? "dashed" : ""} d={pathOf(points)} />
      <path class="tip" d={tipOf(points)} />
      {edge.label && (
        <text x={x} y={y + 4} text-anchor="middle">
          {edge.label}
        </text>
      )}
    </g>
  )
}

function classOf(name: string, tone: string | undefined, isFaded: boolean): string {
  return [name, tone, isFaded && "faded"].filter(Boolean).join(" ")
}

/** Moves the view to a node, without moving the page. */
function show(view: HTMLElement | null, { x, y, width, height }: PlacedNode, zoom: number): void {
  view?.scrollTo({
    left: (x + width / 2) * zoom - view.clientWidth / 2,
    top: (y + height / 2) * zoom - view.clientHeight / 2,
  })
}

function pathOf(points: PlacedEdge["points"]): string {
  return points.map(({ x, y }, at) => `${at === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join(" ")
}

/** The arrow's head at the last point. */
function tipOf(points: PlacedEdge["points"]): string {
  const [from, to] = points.slice(-2)
  if (from === undefined || to === undefined) return ""
  const angle = Math.atan2(to.y - from.y, to.x - from.x)
  const corner = (turn: number) =>
    `${(to.x - 9 * Math.cos(angle + turn)).toFixed(1)} ${(to.y - 9 * Math.sin(angle + turn)).toFixed(1)}`
  return `M${to.x.toFixed(1)} ${to.y.toFixed(1)} L${corner(0.4)} L${corner(-0.4)} Z`
}
