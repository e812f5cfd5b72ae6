import type { SourceFile, Span } from "../core/source.ts"
import type { ConditionBody } from "./condition-body.ts"

/** A .fga file after parsing. Parts that could not be parsed are marked `broken`: they were reported, and no other finding may depend on them. */
export interface ModelDocument {
  readonly file: SourceFile
  readonly header: ModelHeader | undefined
  readonly types: readonly TypeNode[]
  readonly conditions: readonly ConditionNode[]
  /** The line of a type or condition could not be parsed, so some defined names are unknown. */
  readonly namesMissing: boolean
}

/** Input of `fmt`: the statements that could be parsed, and all comments outside the bodies of conditions, each list in file order. */
export interface ModelLayout {
  readonly file: SourceFile
  readonly statements: readonly StatementNode[]
  readonly comments: readonly Span[]
}

/** A statement as the file contains it. */
export type StatementNode =
  | { readonly kind: "model" | "relations"; readonly span: Span }
  | { readonly kind: "schema" | "module"; readonly value: string; readonly span: Span }
  | { readonly kind: "type"; readonly name: string; readonly extend: boolean; readonly span: Span }
  | { readonly kind: "define"; readonly relation: RelationDefinition; readonly span: Span }
  | {
      readonly kind: "condition"
      readonly condition: ConditionNode
      /** From `{` to `}`. */
      readonly body: Span
      readonly cuts: ConditionBody["cuts"]
      readonly span: Span
    }

/** `model` and `schema 1.1`, or `module name`: the first line of one part of a modular model. */
export type ModelHeader =
  | { readonly kind: "model"; readonly schema: Name; readonly span: Span }
  | { readonly kind: "module"; readonly name: Name; readonly span: Span }

/** A name or version as written. */
export interface Name {
  readonly text: string
  readonly span: Span
}

/** The module a part of a modular model comes from, and its file as `fga.mod` names it: the JSON's `module` and `source_info`. */
export interface Origin {
  readonly module: string
  readonly file: string
}

/** `type name` or `extend type name`, with its relations. */
export interface TypeNode {
  readonly name: Name
  readonly extend: boolean
  readonly relations: readonly RelationDefinition[]
  /** Only in a model that was linked from modules. */
  readonly origin?: Origin
}

/** `define name: rewrite`. */
export interface RelationDefinition {
  readonly name: Name
  /** Undefined when the text is broken. */
  readonly rewrite: Rewrite | undefined
  /** Set when an `extend type` adds the relation. */
  readonly origin?: Origin
}

/** How a relation is computed. Parentheses only appear as nesting; the `span` of an operator covers its operands only. */
export type Rewrite =
  | { readonly kind: "direct"; readonly restrictions: readonly Restriction[]; readonly span: Span }
  | { readonly kind: "computed"; readonly relation: Name; readonly span: Span }
  | { readonly kind: "from"; readonly relation: Name; readonly tupleset: Name; readonly span: Span }
  | { readonly kind: "union" | "intersection"; readonly operands: readonly Rewrite[]; readonly span: Span }
  | { readonly kind: "exclusion"; readonly base: Rewrite; readonly subtract: Rewrite; readonly span: Span }

/** `type`, `type#relation` or `type:*`, optionally `with condition`. `subject` covers everything except the condition. */
export interface Restriction {
  readonly type: Name
  readonly relation: Name | undefined
  readonly wildcard: boolean
  readonly condition: Name | undefined
  readonly subject: Span
  readonly span: Span
}

/** `condition name(parameters) { expression }`. */
export interface ConditionNode {
  readonly name: Name
  readonly parameters: readonly ParameterNode[]
  /** Undefined when the text is broken. */
  readonly expression: ExpressionNode | undefined
  /** Only in a model that was linked from modules. */
  readonly origin?: Origin
}

/** `name: type` or `name: list<type>`; the words of the language, not yet OpenFGA's `TYPE_NAME_…`. */
export interface ParameterNode {
  readonly name: Name
  readonly type: string
  readonly generic: string | undefined
}

/**
 * The CEL text of a condition without `#` comments and without spaces at line ends. `pieces` maps it to the file: the text from `at` (offset
 * in `text`) begins at `start` (offset in the file).
 */
export interface ExpressionNode {
  readonly text: string
  readonly pieces: readonly { readonly at: number; readonly start: number }[]
  /** The expression in the file, without surrounding white space. */
  readonly span: Span
}
