import type { TextPiece } from "./lexer.ts"

interface Place {
  readonly start: number
  readonly end: number
}

/** A type as written: `System.Collections.Generic.List<int>[]`. `suffix` contains `[]` and `?` from the inside out. */
export interface TypeSyntax extends Place {
  readonly name: string
  readonly args: readonly TypeSyntax[]
  readonly suffix: readonly ("[]" | "?")[]
  /** The names in `(int a, string)`, "" for an unnamed item. */
  readonly fields?: readonly string[]
}

/** An item of `(a, name: b)`. */
export interface TupleItem {
  readonly name?: string
  readonly value: ExpressionSyntax
}

/** A target of one item of a tuple: a new or an existing variable. */
export interface DeconstructionTarget extends Place {
  readonly name: string
  readonly declares: boolean
  /** Undefined for `var`. */
  readonly type?: TypeSyntax
}

export interface ArgumentSyntax extends Place {
  readonly name?: string
  /** `out var x`, `out int x`, `out x`. */
  readonly out?: { readonly type?: TypeSyntax; readonly name: string }
  readonly value?: ExpressionSyntax
}

/** A pattern of `is` and `switch`. */
export type PatternSyntax = Place &
  (
    | { readonly kind: "type"; readonly type: TypeSyntax; readonly name?: string }
    | { readonly kind: "constant"; readonly value: ExpressionSyntax }
    | { readonly kind: "relation"; readonly op: string; readonly value: ExpressionSyntax }
    | { readonly kind: "not"; readonly inner: PatternSyntax }
    | { readonly kind: "or" | "and"; readonly left: PatternSyntax; readonly right: PatternSyntax }
    | { readonly kind: "any" }
    | { readonly kind: "var"; readonly name: string }
  )

export interface LambdaParameter {
  readonly name: string
  readonly type?: TypeSyntax
}

/** An element of an initializer: `value`, `{ a, b }`, `Name = value`, `[key] = value`. */
export type Initializer =
  | {
      readonly kind: "item"
      readonly values: readonly ExpressionSyntax[]
      readonly start: number
      readonly end: number
    }
  | {
      readonly kind: "member"
      readonly name: string
      readonly value: ExpressionSyntax
      readonly start: number
      readonly end: number
    }
  | {
      readonly kind: "index"
      readonly keys: readonly ExpressionSyntax[]
      readonly value: ExpressionSyntax
      readonly start: number
      readonly end: number
    }

export type ExpressionSyntax = Place &
  (
    | { readonly kind: "literal"; readonly type: string; readonly value: string | number | boolean | null }
    | { readonly kind: "text"; readonly pieces: readonly TextPiece[] }
    | {
        readonly kind: "interpolated"
        readonly parts: readonly (
          | TextPiece
          | { readonly value: ExpressionSyntax; readonly align?: number; readonly format?: string }
        )[]
      }
    | { readonly kind: "name"; readonly name: string; readonly types?: readonly TypeSyntax[] }
    | {
        readonly kind: "member"
        readonly on: ExpressionSyntax
        readonly name: string
        readonly nameStart: number
        readonly types?: readonly TypeSyntax[]
      }
    | { readonly kind: "call"; readonly on: ExpressionSyntax; readonly args: readonly ArgumentSyntax[] }
    | { readonly kind: "index"; readonly on: ExpressionSyntax; readonly args: readonly ArgumentSyntax[] }
    | { readonly kind: "safe"; readonly on: ExpressionSyntax; readonly rest: ExpressionSyntax }
    | { readonly kind: "hole" }
    | { readonly kind: "unary"; readonly op: string; readonly on: ExpressionSyntax }
    | {
        readonly kind: "step"
        readonly op: "++" | "--"
        readonly before: boolean
        readonly on: ExpressionSyntax
      }
    | {
        readonly kind: "binary"
        readonly op: string
        readonly left: ExpressionSyntax
        readonly right: ExpressionSyntax
      }
    | {
        readonly kind: "assign"
        readonly op: string
        readonly target: ExpressionSyntax
        readonly value: ExpressionSyntax
      }
    | {
        readonly kind: "if"
        readonly test: ExpressionSyntax
        readonly yes: ExpressionSyntax
        readonly no: ExpressionSyntax
      }
    | { readonly kind: "cast"; readonly type: TypeSyntax; readonly on: ExpressionSyntax }
    | { readonly kind: "as"; readonly type: TypeSyntax; readonly on: ExpressionSyntax }
    | { readonly kind: "is"; readonly on: ExpressionSyntax; readonly pattern: PatternSyntax }
    | { readonly kind: "switch"; readonly on: ExpressionSyntax; readonly arms: readonly SwitchArm[] }
    | {
        readonly kind: "lambda"
        readonly params: readonly LambdaParameter[]
        readonly body: ExpressionSyntax | BlockSyntax
      }
    | {
        readonly kind: "new"
        readonly type: TypeSyntax | undefined
        readonly args: readonly ArgumentSyntax[]
        readonly init?: readonly Initializer[]
      }
    | {
        readonly kind: "array"
        readonly type: TypeSyntax | undefined
        readonly size?: ExpressionSyntax
        readonly items?: readonly ExpressionSyntax[]
      }
    | {
        readonly kind: "anonymous"
        readonly fields: readonly { readonly name: string; readonly value: ExpressionSyntax }[]
      }
    | { readonly kind: "tuple"; readonly items: readonly TupleItem[] }
    | { readonly kind: "type"; readonly type: TypeSyntax }
    | { readonly kind: "default"; readonly type: TypeSyntax | undefined }
    | { readonly kind: "throw"; readonly on: ExpressionSyntax }
  )

export type LambdaExpression = Extract<ExpressionSyntax, { kind: "lambda" }>

export interface SwitchArm {
  readonly pattern: PatternSyntax
  readonly when?: ExpressionSyntax
  readonly value: ExpressionSyntax
}

export interface BlockSyntax extends Place {
  readonly kind: "block"
  readonly body: readonly StatementSyntax[]
}

export interface FunctionStatement extends Place {
  readonly kind: "function"
  readonly result: TypeSyntax
  readonly name: string
  readonly params: readonly {
    readonly name: string
    readonly type: TypeSyntax
    readonly fallback?: ExpressionSyntax
  }[]
  readonly body: BlockSyntax | ExpressionSyntax
}

export type StatementSyntax =
  | BlockSyntax
  | FunctionStatement
  | (Place &
      (
        | { readonly kind: "expression"; readonly on: ExpressionSyntax }
        | {
            readonly kind: "declare"
            /** Undefined for `var`. */
            readonly type: TypeSyntax | undefined
            readonly names: readonly {
              readonly name: string
              readonly start: number
              readonly end: number
              readonly value?: ExpressionSyntax
            }[]
          }
        | {
            readonly kind: "deconstruct"
            readonly parts: readonly DeconstructionTarget[]
            readonly value: ExpressionSyntax
          }
        | {
            readonly kind: "if"
            readonly test: ExpressionSyntax
            readonly yes: StatementSyntax
            readonly no?: StatementSyntax
          }
        | {
            readonly kind: "while"
            readonly test: ExpressionSyntax
            readonly body: StatementSyntax
            readonly first: boolean
          }
        | {
            readonly kind: "for"
            readonly begin: readonly StatementSyntax[]
            readonly test?: ExpressionSyntax
            readonly step: readonly ExpressionSyntax[]
            readonly body: StatementSyntax
          }
        | {
            readonly kind: "each"
            readonly type: TypeSyntax | undefined
            readonly name: string
            readonly over: ExpressionSyntax
            readonly body: StatementSyntax
          }
        | { readonly kind: "switch"; readonly on: ExpressionSyntax; readonly cases: readonly SwitchCase[] }
        | { readonly kind: "return" | "throw"; readonly on?: ExpressionSyntax }
        | { readonly kind: "break" | "continue" | "empty" }
        | { readonly kind: "using"; readonly resource: StatementSyntax; readonly body: StatementSyntax }
        | {
            readonly kind: "try"
            readonly body: BlockSyntax
            readonly catches: readonly {
              readonly type?: TypeSyntax
              readonly name?: string
              readonly when?: ExpressionSyntax
              readonly body: BlockSyntax
            }[]
            readonly last?: BlockSyntax
          }
      ))

export interface SwitchCase {
  /** Undefined for `default`. */
  readonly labels: readonly (SwitchArm["pattern"] | undefined)[]
  readonly when?: ExpressionSyntax
  readonly body: readonly StatementSyntax[]
}
