import type { StoreCounts } from "../counts.ts"
import type { Graph, Stored, TuplePresence } from "../graph/graph.ts"
import { Overlay } from "../graph/overlay.ts"
import type { Commit, TupleRow } from "../ports.ts"
import type { View } from "../work.ts"
import type { KeptAt } from "./kept.ts"

/**
 * A store at one revision, for as long as a question needs it: the current graph, and over it the past states of the tuples that have
 * changed since. The graph continues to change; the content of a snapshot never does.
 */
export class Snapshot implements View {
  readonly graph: Graph
  readonly at: Commit
  /** The graph's epoch when the snapshot was made. Pages installed later contain a newer state and are not read. */
  readonly epoch: number
  readonly kept: KeptAt
  readonly counts: StoreCounts
  past: Overlay | undefined
  /** Number of questions in progress on it. */
  users = 0
  /** Changes of the graph that wait while the feed is read for earlier ones. */
  #waiting: (() => void)[] | undefined
  /** Names in its tuples; questions must find them while the snapshot exists. */
  readonly #kept: number[] = []

  constructor(graph: Graph, at: Commit, kept: KeptAt, counts: StoreCounts) {
    this.graph = graph
    this.kept = kept
    this.counts = counts
    this.at = at
    this.epoch = graph.epoch
  }

  get revision(): number {
    return this.at.revision
  }

  /** Bytes of the remembered tuples. */
  get bytes(): number {
    return this.past?.bytes ?? 0
  }

  /** Call it when a tuple changes: `stored` is its state before. */
  remember(row: TupleRow, stored: Stored | undefined, held: TuplePresence): void {
    const remembered = () => this.#put(row, stored, held)
    if (this.#waiting === undefined) remembered()
    else this.#waiting.push(remembered)
  }

  /** From now on until `gathered`, changes from the feed are applied before changes of the graph. */
  gather(): void {
    this.#waiting = []
  }

  /** The state of a tuple at the revision, from the feed; undefined: it did not exist. */
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

  /** No question needs it any more. */
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
