import type { Graph, Held, Stored } from "./graph.ts"
import { Overlay } from "./overlay.ts"
import type { TupleRow } from "./ports.ts"
import type { Base } from "./slots.ts"
import type { View } from "./work.ts"

/**
 * A store at one revision, for as long as somebody asks about it: the graph as it is, and over it how those tuples stood that the graph has
 * changed since. The graph goes on; what a snapshot shows never changes.
 */
export class Snapshot implements View {
  readonly graph: Graph
  readonly revision: number
  /** The graph's epoch when it was made: what is installed later shows a newer state, and is not read. */
  readonly epoch: number
  past: Overlay | undefined
  /** Work under way on it. */
  users = 0
  /** Changes of the graph while the feed is read for what came before them. */
  #waiting: (() => void)[] | undefined
  /** Names given to the graph because they are only in the past. */
  readonly #brought: number[] = []

  constructor(graph: Graph, revision: number) {
    this.graph = graph
    this.revision = revision
    this.epoch = graph.epoch
  }

  /** A tuple is another than it was: `stored` is how it stood before. */
  remember(object: number, subject: number, base: Base, stored: Stored | undefined, held: Held): void {
    const overlay = this.#overlay()
    if (this.#waiting === undefined) overlay.remember(object, base, subject, stored, held)
    else this.#waiting.push(() => overlay.remember(object, base, subject, stored, held))
  }

  /** From now on until `gathered`, what the feed says comes before what the graph changes. */
  gather(): void {
    this.#waiting = []
  }

  /** How a tuple stood at the revision, by the feed; undefined for not at all. */
  lay(row: TupleRow, stood: TupleRow | undefined): void {
    const { graph } = this
    const object = this.#bring(row[0])
    const subject = this.#bring(row[2])
    const slot = graph.slotOfRow(stood ?? row)
    const context = stood === undefined || stood[5] === "" ? undefined : JSON.parse(stood[5])
    const stored = stood === undefined ? undefined : { slot, context }
    this.#overlay().remember(object, slot.base, subject, stored, everywhere)
  }

  gathered(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const remember of waiting) remember()
  }

  /** Nobody works on it any more. */
  end(): void {
    this.past = undefined
    for (const id of this.#brought) this.graph.forget(id)
    this.#brought.length = 0
  }

  #overlay(): Overlay {
    this.past ??= new Overlay(this.graph)
    return this.past
  }

  #bring(name: string): number {
    const known = this.graph.names.find(name)
    if (known >= 0) return known
    const id = this.graph.bring(name)
    this.#brought.push(id)
    return id
  }
}

const everywhere = { forward: true, reverse: true }
