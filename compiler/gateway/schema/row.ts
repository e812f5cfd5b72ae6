import type { BlockName } from "./block-name.ts"

/** Kinds of declarations; names of one kind are declared once. Values and secrets share theirs, both stand in `${…}`. */
export type DeclarationKind =
  | "gateway"
  | "store"
  | "value"
  | "secret"
  | "issuer"
  | "certificate"
  | "introspection"
  | "users"
  | "pdp"
  | "token"
  | "backend"
  | "policy"
  | "api"
  | "version"
  | "product"
  | "subscription"

/** What an argument may be; `slotKinds` of slots.ts holds a row for each. */
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

/** A place for one argument. `slot` is what lowering asks for. */
export interface Slot {
  readonly slot: string
  readonly kind: SlotKind
  /** How the place is written in help, e.g. `ISSUER`; default: the kind's own. */
  readonly label?: string
  /** Of `reference`: kinds of declarations it may name. Of `name`: the kind it declares. */
  readonly to?: readonly DeclarationKind[]
  readonly choices?: readonly string[]
  /** Bounds of numbers; milliseconds for durations, bytes for sizes; of texts `max` is the most characters. */
  readonly min?: number
  readonly max?: number
  /** Accepted only to be refused with a reason of its own; not shown in the syntax. */
  readonly refused?: boolean
  /** Durations in whole seconds only. */
  readonly wholeSeconds?: boolean
}

/** A pattern of arguments, read from left to right without going back: each alternative is known by its first argument. */
export type ArgumentPattern =
  | Slot
  | { readonly word: string }
  | { readonly optional: readonly ArgumentPattern[] }
  | { readonly many: Slot; readonly between?: string; readonly atMost: number }
  | { readonly oneOf: readonly (readonly ArgumentPattern[])[] }

/** One way to write a statement. */
export interface Form {
  readonly args: readonly ArgumentPattern[]
  readonly block?: BlockName
  /** True: without its block the statement says nothing. */
  readonly blockRequired?: boolean
}

/**
 * A statement of the language: what the binder accepts and what completion, hover and the reference show.
 * A new policy is a row in the blocks it belongs to and a lowering in `lower/steps`.
 */
export interface StatementRow {
  readonly keyword: string
  readonly forms: readonly Form[]
  /** May stand several times in one block, perhaps only so many times. Otherwise a second one is an error. */
  readonly several?: boolean | number
  /** What to write where somebody wants a second one: the help of the error. */
  readonly instead?: string
  /** Must stand in its block. */
  readonly required?: boolean
  /** May be followed by `else`. */
  readonly otherwise?: boolean
  /** What counts without the statement. */
  readonly byDefault?: string
  readonly docs: string
  readonly example: string
}

/** What a block may hold. `anyKeyword` is for blocks whose keywords are a user's own words. */
export interface BlockRow {
  readonly title: string
  readonly rows: readonly StatementRow[]
  readonly anyKeyword?: StatementRow
}

export const word = (text: string): ArgumentPattern => ({ word: text })
export const slot = (name: string, kind: SlotKind, more: Omit<Slot, "slot" | "kind"> = {}): Slot => ({
  slot: name,
  kind,
  ...more,
})
export const optional = (...parts: ArgumentPattern[]): ArgumentPattern => ({ optional: parts })
export const many = (each: Slot, atMost: number, between?: string): ArgumentPattern =>
  between === undefined ? { many: each, atMost } : { many: each, between, atMost }
export const oneOf = (...alternatives: ArgumentPattern[][]): ArgumentPattern => ({ oneOf: alternatives })
