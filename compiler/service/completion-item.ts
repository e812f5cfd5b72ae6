import type { Span } from "../core/source.ts"

/** A proposal for the text at `replaces`. */
export interface Completion {
  readonly label: string
  readonly kind:
    | "keyword"
    | "word"
    | "name"
    | "value"
    | "type"
    | "relation"
    | "field"
    | "method"
    | "function"
    | "operation"
  /** A few words beside the label. */
  readonly detail?: string
  /** Markdown. */
  readonly docs?: string
  /** The text to insert, if it is not the label. */
  readonly insert?: string
  readonly replaces: Span
}

/** A proposal before it is known what it replaces. */
export type CompletionProposal = Omit<Completion, "replaces">
