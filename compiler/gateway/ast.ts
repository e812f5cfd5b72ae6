import type { SourceFile, Span } from "../core/source.ts"

/** A parsed file of gateway.conf: the statements in order, and the comments that `fmt` prints again. */
export interface Document {
  readonly file: SourceFile
  readonly statements: readonly Statement[]
  readonly comments: readonly Comment[]
}

/** `keyword args… { block } else …`. `span` covers the whole statement, `keyword` is the first word. */
export interface Statement {
  readonly keyword: Word
  readonly args: readonly Argument[]
  readonly block: Block | undefined
  /** `else { … }` or `else when (…) { … }`; the latter is a Statement whose keyword is `when`. */
  readonly otherwise: Otherwise | undefined
  /** True when a part of the statement was not understood and reported. Later phases must not add findings that follow from that. */
  readonly broken: boolean
  readonly span: Span
}

/** What follows `else`: exactly one of the two is set. */
export interface Otherwise {
  readonly keyword: Span
  readonly block: Block | undefined
  readonly when: Statement | undefined
}

/** `{ … }`. `open` and `close` are the spans of the braces; a repaired brace has an empty span at the place where it is missing. */
export interface Block {
  readonly statements: readonly Statement[]
  readonly open: Span
  readonly close: Span
}

/** What can appear between the keyword and the block. */
export type Argument = Word | TextArgument | CelArgument | Call | Equals

/** A bare word: keyword, name, number with unit, date, address, method. */
export interface Word {
  readonly kind: "word"
  readonly text: string
  readonly span: Span
}

/** `"…"` or a heredoc. `parts` alternate literal text (escapes resolved, indentation cut) and `${…}` expressions; empty text has no parts. */
export interface TextArgument {
  readonly kind: "text"
  readonly form: "quoted" | "heredoc"
  readonly parts: readonly TextArgumentPart[]
  readonly span: Span
}

/**
 * For a literal, `span` is its raw source. For an expression, `span` is the source between `${` and `}`: offset n of `source` is
 * `span.start + n`.
 */
export type TextArgumentPart =
  | { readonly kind: "literal"; readonly value: string; readonly span: Span }
  | { readonly kind: "cel"; readonly source: string; readonly span: Span }

/** `( … )`: a CEL expression. `span` covers the source between the parentheses: offset n of `source` is `span.start + n`. */
export interface CelArgument {
  readonly kind: "cel"
  readonly source: string
  readonly span: Span
}

/** An expression in the source: `${…}` or `(…)`. */
export interface WrittenExpression {
  readonly source: string
  readonly span: Span
}

/** `name(arg, …)`: a reference to something outside of the project (env, secret, file). */
export interface Call {
  readonly kind: "call"
  readonly name: Word
  readonly args: readonly (Word | TextArgument)[]
  readonly span: Span
}

/** The argument `=`. */
export interface Equals {
  readonly kind: "equals"
  readonly span: Span
}

/** A comment with its `#`. `ownLine`: only whitespace precedes it on its line. */
export interface Comment {
  readonly text: string
  readonly ownLine: boolean
  readonly span: Span
}
