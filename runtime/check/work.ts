import type { StoreCounts } from "./counts.ts"
import type { Graph } from "./graph/graph.ts"
import type { Overlay } from "./graph/overlay.ts"
import type { Commit, PageKey } from "./ports.ts"
import type { KeptAt } from "./stores/kept.ts"

/** The state of work after a slice: decided, in need of pages, or out of time for this turn of the event loop. */
export type Progress =
  | { readonly kind: "done" }
  | { readonly kind: "miss"; readonly keys: readonly PageKey[] }
  | { readonly kind: "suspended" }

/** The answer can be read. */
export const done: Progress = { kind: "done" }
/** Other work must have its turn. */
export const suspended: Progress = { kind: "suspended" }

/**
 * The data for a question: a store's graph, and the past states of tuples that the graph has changed since the view's revision. Only
 * `Question` reads it, and it lays the second over the first.
 */
export interface View {
  readonly graph: Graph
  /** May appear while work is in progress. */
  readonly past?: Overlay | undefined
  /** Pages installed in the graph after this epoch do not belong to this view. */
  readonly epoch?: number | undefined
  /** Results of other questions at the view's revision. */
  readonly kept?: KeptAt | undefined
  /** Counts the work on the store. */
  readonly counts?: StoreCounts | undefined
}

/**
 * One question of any kind (a check, a batch, a list, an explanation) in progress. The engine gives it slices of time, loads missing pages,
 * and restarts it when necessary, so that an answer never mixes two revisions.
 */
export interface EngineWork<Answer> {
  /** Work so far, in steps: a visited node, a read list element, 1/64 of a condition. */
  readonly steps: number
  /** Maximum steps; more is `authorization_model_resolution_too_complex`. Default: the engine's maximum. */
  readonly stepsMax?: number | undefined
  /** Time for the whole question, in milliseconds. Default: the engine's. */
  readonly deadlineMs?: number | undefined
  /**
   * Starts on a view; forgets earlier results.
   * @throws CheckError when the request does not fit the model
   */
  begin(view: View): void
  /**
   * Continues until it is decided, or until `isLate` ends the slice.
   * @throws CheckError when there is no answer
   */
  run(isLate: () => boolean): Progress
  /** The answer, once it is done, and its commit. */
  answer(at: Commit): Answer
  /** At the deadline: a partial answer that is marked as cut; undefined when there is none. */
  cut?(at: Commit): Answer | undefined
  /** The question has ended, with or without an answer: frees its resources. */
  release(): void
}
