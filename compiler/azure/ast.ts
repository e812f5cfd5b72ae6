import type { SourceFile, Span } from "../core/source.ts"

/**
 * A piece of a document as written, between its quotes or tags. `expression`: it is one C# expression (`@(…)`) or its statements (`@{…}`), and
 * `inner` is the code between the outermost brackets. `markup`: it contains tags and is kept as written.
 */
export interface Raw {
  readonly kind: "text" | "expression" | "statements" | "markup"
  readonly span: Span
  /** Only for expressions. */
  readonly inner?: Span
  /** The expression inside surrounding text: the rest of the span is text. */
  readonly hole?: Raw
  /** Parts of the span to read literally: CDATA sections without their delimiters. When absent, the whole span is read, with entities. */
  readonly literal?: readonly { readonly span: Span; readonly entities: boolean }[]
}

/** An attribute: its name and the text between its quotes. */
export interface Attribute {
  readonly name: string
  readonly nameSpan: Span
  readonly raw: Raw
}

/** A comment, which `convert` keeps. */
export interface CommentNode {
  readonly kind: "comment"
  /** The text between `<!--` and `-->`. */
  readonly text: string
  readonly span: Span
}

/** Text between tags. Text that is only white space has no node. */
export interface TextNode {
  readonly kind: "text"
  readonly raw: Raw
}

/** An element with its content. */
export interface Element {
  readonly kind: "element"
  readonly name: string
  /** The name in the start tag. */
  readonly nameSpan: Span
  readonly attributes: readonly Attribute[]
  readonly children: readonly PolicyNode[]
  /** From `<` to the end of the end tag. */
  readonly span: Span
}

/** A node that an element may contain. */
export type PolicyNode = Element | TextNode | CommentNode

/** An XML policy document. */
export interface PolicyDocument {
  readonly file: SourceFile
  /** `policies` or `fragment`. Undefined when it is missing (reported). */
  readonly root: Element | undefined
  /** Comments before and after the root. */
  readonly around: readonly CommentNode[]
  /** The text only looks like XML: an expression contains raw `"`, `<` or `&`. So entities in its strings are taken literally. */
  readonly plain: boolean
  /** A part could not be read (reported): content that seems to be missing may exist. */
  readonly damaged: boolean
}

/** The elements among the children. */
export function elementsOf(element: Element): Element[] {
  return element.children.filter((child) => child.kind === "element")
}

/** An element and all its descendants. */
export function everyElement(element: Element): Element[] {
  return [element, ...elementsOf(element).flatMap(everyElement)]
}

/** The attribute with a name. */
export function attributeOf(element: Element, name: string): Attribute | undefined {
  return element.attributes.find((each) => each.name === name)
}
