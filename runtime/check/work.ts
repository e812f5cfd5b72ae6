import type { Graph } from "./graph/graph.ts"
import type { Overlay } from "./graph/overlay.ts"
import type { Commit, PageKey } from "./ports.ts"
import type { KeptAt } from "./stores/kept.ts"

/** How work on a question ended for now: decided, in need of pages, or out of time for this turn of the event loop. */
export type Progress =
  | { readonly kind: "done" }
  | { readonly kind: "miss"; readonly keys: readonly PageKey[] }
  | { readonly kind: "suspended" }

/** The answer can be read. */
export const done: Progress = { kind: "done" }
/** Others must have their turn. */
export const suspended: Progress = { kind: "suspended" }

/**
 * What a question is answered from: a store's graph, and how those tuples stood at the view's revision that the graph has changed since. It is read through
 * `Question` only, which lays the one over the other.
 */
export interface View {
  readonly graph: Graph
  /** May appear while work is under way. */
  readonly past?: Overlay | undefined
  /** What was installed in the graph after this epoch is not of this view. */
  readonly epoch?: number | undefined
  /** What other questions found at the view's revision. */
  readonly kept?: KeptAt | undefined
}

/**
 * One question of any kind (a check, a batch, a list, an explanation) while it is at work. The engine gives it slices of time, loads what it lacks,
 * and begins it anew when the graph has changed, so that an answer is never of two revisions.
 */
export interface EngineWork<Answer> {
  /** Work done so far, in steps: a node visited, a list element read, a 64th of a condition. */
  readonly steps: number
  /** Steps that may be taken; more is `authorization_model_resolution_too_complex`. The engine's own bound when absent. */
  readonly stepsMax?: number | undefined
  /** Time for the whole question, in milliseconds; the engine's own when absent. */
  readonly deadlineMs?: number | undefined
  /** Takes the graph as it is now; what was found before is forgotten. @throws CheckError when the request does not fit the model. */
  begin(view: View): void
  /** Goes on until it is decided or `isLate` says that others must have their turn. @throws CheckError when there is no answer. */
  run(isLate: () => boolean): Progress
  /** The answer, once it is done, and the commit it is true at. */
  answer(at: Commit): Answer
  /** The deadline has passed: what can be said by now and says of itself that it is cut; undefined when nothing can. */
  cut?(at: Commit): Answer | undefined
  /** The question has ended, in an answer or not: gives up what it holds. */
  release(): void
}
