import type { SourceFile, Span } from "../core/source.ts"

/**
 * A piece of a document as it stands there, between its quotes or tags. `expression`: it is one C# expression (`@(…)`) or its statements (`@{…}`),
 * `inner` being what stands between the outermost brackets. `markup`: it holds tags and is kept as written.
 */
export interface Raw {
  readonly kind: "text" | "expression" | "statements" | "markup"
  readonly span: Span
  /** Of expressions. */
  readonly inner?: Span
  /** An expression with text around it: the rest of the span is text. */
  readonly hole?: Raw
  /** Parts of the span that are meant as they stand: CDATA without its frame. Absent: the whole span, with entities. */
  readonly literal?: readonly { readonly span: Span; readonly entities: boolean }[]
}

/** An attribute: its name and what stands between its quotes. */
export interface Attribute {
  readonly name: string
  readonly nameSpan: Span
  readonly raw: Raw
}

/** A comment, which `convert` keeps. */
export interface CommentNode {
  readonly kind: "comment"
  /** Between `<!--` and `-->`. */
  readonly text: string
  readonly span: Span
}

/** Text between tags; blank text is none. */
export interface TextNode {
  readonly kind: "text"
  readonly raw: Raw
}

/** An element with all that is in it. */
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

/** What may stand in an element. */
export type PolicyNode = Element | TextNode | CommentNode

/** An XML policy document. */
export interface PolicyDocument {
  readonly file: SourceFile
  /** `policies` or `fragment`; undefined when there is none (reported). */
  readonly root: Element | undefined
  /** Comments before and after the root. */
  readonly around: readonly CommentNode[]
  /** Written as text that only looks like XML: an expression holds `"`, `<` or `&` as they are, so entities in its texts are meant as they stand. */
  readonly plain: boolean
  /** Something was not understood (reported): what seems to be missing may be there. */
  readonly damaged: boolean
}

/** The elements among the children. */
export function elementsOf(element: Element): Element[] {
  return element.children.filter((child) => child.kind === "element")
}

/** An element and all elements in it. */
export function everyElement(element: Element): Element[] {
  return [element, ...elementsOf(element).flatMap(everyElement)]
}

/** The attribute of a name. */
export function attributeOf(element: Element, name: string): Attribute | undefined {
  return element.attributes.find((each) => each.name === name)
}
