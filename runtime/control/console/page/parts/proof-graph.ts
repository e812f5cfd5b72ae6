import type { Explanation, ProofNode } from "../../../../check/ports.ts"
import type { GraphEdge, GraphNode } from "./graph-layout.ts"

/** Nodes up to this depth are open at first. */
const openDepth = 4
/** Nodes of a drawing, at most: larger ones cannot be read. */
const nodesMax = 200

/** A proof as nodes and edges. */
export interface ProofDrawing {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
  /** Ids of the nodes that open and close. */
  readonly movable: ReadonlySet<string>
  readonly isCut: boolean
}

/**
 * The reasons of an answer as a drawing, from the user to what is asked about: its proof, or what excludes the user, and with dashes the tuples that would
 * allow it. `toggled`: ids of nodes that are not as they are at first, open or closed.
 */
export function proofGraphOf(explanation: Explanation, toggled: ReadonlySet<string>): ProofDrawing {
  const drawing = new Drawing(explanation.user, toggled)
  const { proof, blocked_by = [], misses = [], object, relation, allowed } = explanation
  if (proof !== undefined) drawing.addProof(proof, "0", 0)
  else {
    const tone = allowed ? "good" : "bad"
    drawing.addNode({ id: "0", title: `${object}#${relation}`, tone })
    drawing.addUser(explanation.user)
    for (const [at, node] of blocked_by.entries()) {
      drawing.addProof(node, `0.${at}`, 1)
      drawing.addEdge({ from: `0.${at}`, to: "0", label: "excludes", tone: "bad" })
    }
  }
  for (const { add, remove } of misses) {
    for (const tuple of add) drawing.addMissing(tuple, "add", "0")
    for (const tuple of remove) drawing.addMissing(tuple, "remove", "0")
  }
  return drawing
}

class Drawing implements ProofDrawing {
  readonly nodes: GraphNode[] = []
  readonly edges: GraphEdge[] = []
  readonly movable = new Set<string>()
  isCut = false
  readonly #user: string
  readonly #toggled: ReadonlySet<string>
  readonly #ids = new Set<string>()
  readonly #pairs = new Set<string>()

  constructor(user: string, toggled: ReadonlySet<string>) {
    this.#user = user
    this.#toggled = toggled
  }

  addNode(node: GraphNode): void {
    if (this.#ids.has(node.id)) return
    this.#ids.add(node.id)
    this.nodes.push(node)
  }

  addEdge(edge: GraphEdge): void {
    const pair = `${edge.from} ${edge.to}`
    if (this.#pairs.has(pair)) return
    this.#pairs.add(pair)
    this.edges.push(edge)
  }

  /** The node of a user; everybody who is named has one. */
  addUser(user: string): string {
    const id = `user ${user}`
    this.addNode({ id, title: user, tone: user === this.#user ? undefined : "quiet" })
    return id
  }

  addProof(node: ProofNode, id: string, depth: number): void {
    if (this.nodes.length >= nodesMax) {
      this.isCut = true
      return
    }
    const { children = [], holds, by, tuple, condition } = node
    const isOpen = depth < openDepth !== this.#toggled.has(id)
    if (children.length > 0) this.movable.add(id)
    const rule = ruleOf(node)
    const lines = [
      ...(rule === "" ? [] : [{ id: `${id} rule`, text: rule }]),
      ...(condition === undefined
        ? []
        : [{ id: `${id} condition`, text: `${condition.name} is ${condition.outcome}` }]),
      ...(children.length > 0 && !isOpen ? [{ id: `${id} more`, text: "closed: click to open" }] : []),
    ]
    this.addNode({ id, title: `${node.object}#${node.relation}`, tone: holds ? "good" : "bad", lines })
    if (by === "tuple" && tuple !== undefined)
      this.addEdge({ from: this.addUser(tuple.user), to: id, label: tuple.relation })
    if (by === "self") this.addEdge({ from: this.addUser(this.#user), to: id, label: "is this set" })
    if (isOpen)
      for (const [at, child] of children.entries()) this.#addChild(node, child, `${id}.${at}`, id, depth)
  }

  #addChild(parent: ProofNode, child: ProofNode, id: string, to: string, depth: number): void {
    const isExclusion = parent.by === "none" || (parent.by === "but not" && id.endsWith(".1"))
    this.addProof(child, id, depth + 1)
    if (!this.#ids.has(id)) return
    const label = isExclusion ? "but not" : edgeLabel(parent)
    this.addEdge({
      from: id,
      to,
      label,
      dashed: isExclusion,
      ...(isExclusion && child.holds ? { tone: "bad" as const } : {}),
    })
  }

  /** A tuple that would allow it when it is added or removed. */
  addMissing(
    { user, relation, object }: { readonly user: string; readonly relation: string; readonly object: string },
    kind: "add" | "remove",
    target: string,
  ): void {
    const title = `${object}#${relation}`
    const known = this.nodes.find((node) => node.title === title)
    const id = known?.id ?? `miss ${title}`
    if (known === undefined) {
      this.addNode({ id, title, tone: "quiet" })
      this.addEdge({ from: id, to: target, dashed: true })
    }
    this.addEdge({ from: this.addUser(user), to: id, label: kind, tone: "warn", dashed: true })
  }
}

function edgeLabel({ by, tuple }: ProofNode): string | undefined {
  if (by === "userset" || by === "from") return tuple?.relation
  return by === "intersection" ? "and" : undefined
}

function ruleOf({ by, contextual }: ProofNode): string {
  switch (by) {
    case "intersection":
      return "all of these"
    case "but not":
      return "with an exclusion"
    case "none":
      return "nothing grants it"
    case "above":
      return "shown elsewhere"
    case "cut":
      return "not shown: too large"
    default:
      return contextual ? "by a contextual tuple" : ""
  }
}
