import type { BlockName } from "./block-name.ts"

/** Kinds of declarations. Names within a kind are unique. Values and secrets share one namespace, because both are used in `${…}`. */
export type DeclarationKind =
  | "gateway"
  | "store"
  | "value"
  | "secret"
  | "issuer"
  | "certificate"
  | "introspection"
  | "oidc"
  | "users"
  | "pdp"
  | "token"
  | "backend"
  | "policy"
  | "api"
  | "version"
  | "product"
  | "subscription"

/** The kinds of arguments; `slotKinds` of slots.ts has a row for each. */
export type SlotKind =
  | "name"
  | "value-name"
  | "reference"
  | "scope"
  | "duration"
  | "duration-or-none"
  | "size"
  | "count"
  | "date"
  | "decimal"
  | "percentage"
  | "currency"
  | "address"
  | "network"
  | "network-or-range"
  | "method"
  | "host"
  | "quoted"
  | "status"
  | "status-or-class"
  | "choice"
  | "data"
  | "claim"
  | "limit-key"
  | "relation"
  | "url"
  | "load-text"
  | "text"
  | "constant"
  | "header-name"
  | "query-name"
  | "path"
  | "condition"
  | "expression"
  | "file"
  | "outside"
  | "equals"

/** The place of one argument. Lowering reads the argument by `slot`. */
export interface Slot {
  readonly slot: string
  readonly kind: SlotKind
  /** The placeholder in help texts, e.g. `ISSUER` (default: that of the kind). */
  readonly label?: string
  /** For `reference`: the kinds of declarations it can name. For `name`: the kind it declares. */
  readonly to?: readonly DeclarationKind[]
  readonly choices?: readonly string[]
  /** Bounds of numbers: milliseconds for durations, bytes for sizes. For texts, `max` is the maximum number of characters. */
  readonly min?: number
  readonly max?: number
  /** Accepted only to be refused with a specific reason; not shown in the syntax. */
  readonly refused?: boolean
  /** The duration must be a whole number of seconds. */
  readonly wholeSeconds?: boolean
  /** The share must be a whole number of percent. */
  readonly wholePercent?: boolean
  /** The environment can give the value (`env(NAME, "…")`) for this place of the plan; `*` is the name of the declaration around it. */
  readonly setting?: string
}

/** A pattern of arguments, matched from left to right without backtracking: the first argument selects the alternative. */
export type ArgumentPattern =
  | Slot
  | { readonly word: string }
  | { readonly optional: readonly ArgumentPattern[] }
  | { readonly many: Slot; readonly between?: string; readonly atMost: number }
  | { readonly oneOf: readonly (readonly ArgumentPattern[])[] }

/** One form of a statement. */
export interface Form {
  readonly args: readonly ArgumentPattern[]
  readonly block?: BlockName
  /** Without its block the statement has no meaning. */
  readonly blockRequired?: boolean
}

/**
 * A statement of the language: what the binder accepts, and what help and reference show. A new policy needs a row in the blocks it belongs
 * to, and a lowering in `steps/`.
 */
export interface StatementRow {
  readonly keyword: string
  readonly forms: readonly Form[]
  /** Allowed several times in one block; a number is the maximum. Otherwise a second one is an error. */
  readonly several?: boolean | number
  /** The alternative to a second statement: the help of that error. */
  readonly instead?: string
  /** Required in its block. */
  readonly required?: boolean
  /** Can be followed by `else`. */
  readonly otherwise?: boolean
  /** What applies without the statement. */
  readonly byDefault?: string
  readonly docs: string
  readonly example: string
}

/** The statements a block accepts. `anyKeyword` is for blocks with user-defined keywords. */
export interface BlockRow {
  readonly title: string
  readonly rows: readonly StatementRow[]
  readonly anyKeyword?: StatementRow
}

/** A fixed word. */
export const word = (text: string): ArgumentPattern => ({ word: text })
/** An argument with a name. */
export const slot = (name: string, kind: SlotKind, more: Omit<Slot, "slot" | "kind"> = {}): Slot => ({
  slot: name,
  kind,
  ...more,
})
/** Parts that may be missing together. */
export const optional = (...parts: ArgumentPattern[]): ArgumentPattern => ({ optional: parts })
/** One or more arguments of a kind, with a word between them or nothing. */
export const many = (each: Slot, atMost: number, between?: string): ArgumentPattern =>
  between === undefined ? { many: each, atMost } : { many: each, between, atMost }
/** Alternatives: the first argument selects one. */
export const oneOf = (...alternatives: ArgumentPattern[][]): ArgumentPattern => ({ oneOf: alternatives })
