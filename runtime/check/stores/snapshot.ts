import type { Graph, Stored, TuplePresence } from "../graph/graph.ts"
import { Overlay } from "../graph/overlay.ts"
import type { Commit, TupleRow } from "../ports.ts"
import type { View } from "../work.ts"
import type { KeptAt } from "./kept.ts"

/**
 * A store at one revision, for as long as somebody asks about it: the graph as it is, and over it how those tuples stood that the graph has
 * changed since. The graph goes on; what a snapshot shows never changes.
 */
export class Snapshot implements View {
  readonly graph: Graph
  readonly at: Commit
  /** The graph's epoch when it was made: what is installed later shows a newer state, and is not read. */
  readonly epoch: number
  readonly kept: KeptAt
  past: Overlay | undefined
  /** Work under way on it. */
  users = 0
  /** Changes of the graph while the feed is read for what came before them. */
  #waiting: (() => void)[] | undefined
  /** Names it speaks of: questions must find them as long as it lives. */
  readonly #kept: number[] = []

  constructor(graph: Graph, at: Commit, kept: KeptAt) {
    this.graph = graph
    this.kept = kept
    this.at = at
    this.epoch = graph.epoch
  }

  get revision(): number {
    return this.at.revision
  }

  /** What it remembers takes. */
  get bytes(): number {
    return this.past?.bytes ?? 0
  }

  /** A tuple will be, or is, another than it was: `stored` is how it stood before. */
  remember(row: TupleRow, stored: Stored | undefined, held: TuplePresence): void {
    const remembered = () => this.#put(row, stored, held)
    if (this.#waiting === undefined) remembered()
    else this.#waiting.push(remembered)
  }

  /** From now on until `gathered`, what the feed says comes before what the graph changes. */
  gather(): void {
    this.#waiting = []
  }

  /** How a tuple stood at the revision, by the feed; undefined for not at all. */
  lay(row: TupleRow, stood: TupleRow | undefined): void {
    const context = stood === undefined || stood[5] === "" ? undefined : JSON.parse(stood[5])
    this.#put(
      row,
      stood === undefined ? undefined : { slot: this.graph.slotOfRow(stood), context },
      everywhere,
    )
  }

  gathered(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const remember of waiting) remember()
  }

  /** Nobody works on it any more. */
  end(): void {
    this.past = undefined
    for (const id of this.#kept) this.graph.unkeep(id)
    this.#kept.length = 0
  }

  #put(row: TupleRow, stored: Stored | undefined, held: TuplePresence): void {
    const { graph } = this
    const object = graph.keep(row[0])
    const subject = graph.keep(row[2])
    this.#kept.push(object, subject)
    this.past ??= new Overlay(graph)
    this.past.remember(object, graph.slotOfRow(row).base, subject, stored, held)
  }
}

const everywhere = { forward: true, reverse: true }
