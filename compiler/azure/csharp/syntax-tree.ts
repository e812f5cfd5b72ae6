import type { TextPiece } from "./lexer.ts"

interface Place {
  readonly start: number
  readonly end: number
}

/** A type as written: `System.Collections.Generic.List<int>[]`. `suffix` holds `[]` and `?` from the inside out. */
export interface TypeSyntax extends Place {
  readonly name: string
  readonly args: readonly TypeSyntax[]
  readonly suffix: readonly ("[]" | "?")[]
  /** The names in `(int a, string)`, "" where there is none. */
  readonly fields?: readonly string[]
}

/** An item of `(a, name: b)`. */
export interface TupleItem {
  readonly name?: string
  readonly value: Expression
}

/** One name that an item of a tuple goes to: a new variable, or one that is there. */
export interface Part extends Place {
  readonly name: string
  readonly declares: boolean
  /** Undefined for `var`. */
  readonly type?: TypeSyntax
}

export interface Argument extends Place {
  readonly name?: string
  /** `out var x`, `out int x`, `out x`. */
  readonly out?: { readonly type?: TypeSyntax; readonly name: string }
  readonly value?: Expression
}

/** What `is` and `switch` test. */
export type Pattern = Place &
  (
    | { readonly kind: "type"; readonly type: TypeSyntax; readonly name?: string }
    | { readonly kind: "constant"; readonly value: Expression }
    | { readonly kind: "relation"; readonly op: string; readonly value: Expression }
    | { readonly kind: "not"; readonly inner: Pattern }
    | { readonly kind: "or" | "and"; readonly left: Pattern; readonly right: Pattern }
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
      readonly values: readonly Expression[]
      readonly start: number
      readonly end: number
    }
  | {
      readonly kind: "member"
      readonly name: string
      readonly value: Expression
      readonly start: number
      readonly end: number
    }
  | {
      readonly kind: "index"
      readonly keys: readonly Expression[]
      readonly value: Expression
      readonly start: number
      readonly end: number
    }

export type Expression = Place &
  (
    | { readonly kind: "literal"; readonly type: string; readonly value: string | number | boolean | null }
    | { readonly kind: "text"; readonly pieces: readonly TextPiece[] }
    | {
        readonly kind: "interpolated"
        readonly parts: readonly (
          | TextPiece
          | { readonly value: Expression; readonly align?: number; readonly format?: string }
        )[]
      }
    | { readonly kind: "name"; readonly name: string; readonly types?: readonly TypeSyntax[] }
    | {
        readonly kind: "member"
        readonly on: Expression
        readonly name: string
        readonly nameStart: number
        readonly types?: readonly TypeSyntax[]
      }
    | { readonly kind: "call"; readonly on: Expression; readonly args: readonly Argument[] }
    | { readonly kind: "index"; readonly on: Expression; readonly args: readonly Argument[] }
    | { readonly kind: "safe"; readonly on: Expression; readonly rest: Expression }
    | { readonly kind: "hole" }
    | { readonly kind: "unary"; readonly op: string; readonly on: Expression }
    | { readonly kind: "step"; readonly op: "++" | "--"; readonly before: boolean; readonly on: Expression }
    | { readonly kind: "binary"; readonly op: string; readonly left: Expression; readonly right: Expression }
    | {
        readonly kind: "assign"
        readonly op: string
        readonly target: Expression
        readonly value: Expression
      }
    | { readonly kind: "if"; readonly test: Expression; readonly yes: Expression; readonly no: Expression }
    | { readonly kind: "cast"; readonly type: TypeSyntax; readonly on: Expression }
    | { readonly kind: "as"; readonly type: TypeSyntax; readonly on: Expression }
    | { readonly kind: "is"; readonly on: Expression; readonly pattern: Pattern }
    | { readonly kind: "switch"; readonly on: Expression; readonly arms: readonly SwitchArm[] }
    | {
        readonly kind: "lambda"
        readonly params: readonly LambdaParameter[]
        readonly body: Expression | Block
      }
    | {
        readonly kind: "new"
        readonly type: TypeSyntax | undefined
        readonly args: readonly Argument[]
        readonly init?: readonly Initializer[]
      }
    | {
        readonly kind: "array"
        readonly type: TypeSyntax | undefined
        readonly size?: Expression
        readonly items?: readonly Expression[]
      }
    | {
        readonly kind: "anonymous"
        readonly fields: readonly { readonly name: string; readonly value: Expression }[]
      }
    | { readonly kind: "tuple"; readonly items: readonly TupleItem[] }
    | { readonly kind: "type"; readonly type: TypeSyntax }
    | { readonly kind: "default"; readonly type: TypeSyntax | undefined }
    | { readonly kind: "throw"; readonly on: Expression }
  )

export type LambdaExpression = Extract<Expression, { kind: "lambda" }>

export interface SwitchArm {
  readonly pattern: Pattern
  readonly when?: Expression
  readonly value: Expression
}

export interface Block extends Place {
  readonly kind: "block"
  readonly body: readonly Statement[]
}

export interface FunctionStatement extends Place {
  readonly kind: "function"
  readonly result: TypeSyntax
  readonly name: string
  readonly params: readonly {
    readonly name: string
    readonly type: TypeSyntax
    readonly fallback?: Expression
  }[]
  readonly body: Block | Expression
}

export type Statement =
  | Block
  | FunctionStatement
  | (Place &
      (
        | { readonly kind: "expression"; readonly on: Expression }
        | {
            readonly kind: "declare"
            /** Undefined for `var`. */
            readonly type: TypeSyntax | undefined
            readonly names: readonly {
              readonly name: string
              readonly start: number
              readonly end: number
              readonly value?: Expression
            }[]
          }
        | { readonly kind: "deconstruct"; readonly parts: readonly Part[]; readonly value: Expression }
        | { readonly kind: "if"; readonly test: Expression; readonly yes: Statement; readonly no?: Statement }
        | {
            readonly kind: "while"
            readonly test: Expression
            readonly body: Statement
            readonly first: boolean
          }
        | {
            readonly kind: "for"
            readonly begin: readonly Statement[]
            readonly test?: Expression
            readonly step: readonly Expression[]
            readonly body: Statement
          }
        | {
            readonly kind: "each"
            readonly type: TypeSyntax | undefined
            readonly name: string
            readonly over: Expression
            readonly body: Statement
          }
        | { readonly kind: "switch"; readonly on: Expression; readonly cases: readonly SwitchCase[] }
        | { readonly kind: "return" | "throw"; readonly on?: Expression }
        | { readonly kind: "break" | "continue" | "empty" }
        | { readonly kind: "using"; readonly resource: Statement; readonly body: Statement }
        | {
            readonly kind: "try"
            readonly body: Block
            readonly catches: readonly {
              readonly type?: TypeSyntax
              readonly name?: string
              readonly when?: Expression
              readonly body: Block
            }[]
            readonly last?: Block
          }
      ))

export interface SwitchCase {
  /** Undefined for `default`. */
  readonly labels: readonly (SwitchArm["pattern"] | undefined)[]
  readonly when?: Expression
  readonly body: readonly Statement[]
}
