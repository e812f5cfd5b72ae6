import type { CharacterSet } from "./character-set.ts"

/** A condition on a position. `final` is the end, or before a line feed that ends the text. */
export type Anchor = "start" | "end" | "final" | "line-start" | "line-end" | "word" | "no-word"

export type PatternNode =
  | { readonly kind: "sequence"; readonly items: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly items: readonly PatternNode[] }
  | { readonly kind: "character"; readonly code: number; readonly ignoreCase: boolean }
  | { readonly kind: "set"; readonly set: CharacterSet }
  | { readonly kind: "anchor"; readonly anchor: Anchor }
  | { readonly kind: "group"; readonly group: Capture; readonly item: PatternNode }
  | { readonly kind: "reference"; readonly group: Capture; readonly ignoreCase: boolean }
  | { readonly kind: "look"; readonly ahead: boolean; readonly negative: boolean; readonly item: PatternNode }
  | { readonly kind: "atomic"; readonly item: PatternNode }
  | Repeat

export interface Repeat {
  readonly kind: "repeat"
  readonly item: PatternNode
  readonly min: number
  /** Infinity: unlimited. */
  readonly max: number
  readonly greedy: boolean
  /** The groups inside: ECMAScript clears their captures at the start of each round. */
  readonly inside: readonly Capture[]
}

/** A capturing group. Its number is known only when the whole pattern has been parsed: .NET numbers named groups last. */
export interface Capture {
  readonly name: string | undefined
  number: number
}
