import { referenceText } from "../../runtime/model/model-index.ts"
import type { Span } from "../core/source.ts"
import type { ModelLayout, ParameterNode, Rewrite, StatementNode } from "./ast.ts"
import { beginsDefinition, type ConditionBody } from "./condition-body.ts"
import { listOf, lowerRestriction, lowerRewrite } from "./lower.ts"
import { rewriteText } from "./rewrite-text.ts"

/** Indentation of each kind of statement, and of comments below it. */
const indents: Record<StatementNode["kind"], readonly [own: string, below: string]> = {
  model: ["", "  "],
  schema: ["  ", ""],
  module: ["", ""],
  type: ["", "  "],
  relations: ["  ", "    "],
  define: ["    ", "    "],
  condition: ["", ""],
}

/** Statements that no empty line may follow. */
const openers = new Set<StatementNode["kind"] | undefined>(["model", "type", "relations"])

/**
 * The canonical text of a model or module: OpenFGA's indentation, an empty line before each type and condition, at most one elsewhere, one
 * space around operators, no needless parentheses, braces of conditions on separate lines, LF line ends. Comments stay in their place. Lists
 * of types and parameters that span several lines get one entry per line. Formatting twice changes nothing, and the JSON stays the same: only
 * the first line of an expression is touched, because the other lines are part of the JSON.
 *
 * The layout must be free of errors: callers check the report first.
 */
export function formatModel(layout: ModelLayout): string {
  return new Printer(layout).print()
}

/** Prints statements and comments in order. `#last` decides about empty lines and about what a comment belongs to. */
class Printer {
  readonly #layout: ModelLayout
  readonly #lineStarts: readonly number[]
  #text = ""
  #nextComment = 0
  /** The last printed item, and where it ends in the file. A comment has no kind. */
  #last: { readonly kind: StatementNode["kind"] | undefined; readonly end: number } | undefined
  /** Indentation of comments that belong to the last printed item. */
  #below = ""

  constructor(layout: ModelLayout) {
    this.#layout = layout
    const ends = layout.file.text.matchAll(/\r\n|[\r\n]/g)
    this.#lineStarts = [0, ...Array.from(ends, (end) => end.index + end[0].length)]
  }

  /** Types and conditions get an empty line before them, other statements keep theirs. */
  print(): string {
    const { statements, file } = this.#layout
    for (const statement of statements) {
      const { kind, span } = statement
      const follows = this.#comments(this.#take(span.start), statement)
      const forced = isTopLevel(statement) && !follows
      const gap = forced || (this.#isGap(span.start) && !openers.has(this.#last?.kind))
      const text = indents[kind][0] + this.#statement(statement)
      const comment = this.#behind(span.end, Number.POSITIVE_INFINITY)
      this.#row(comment === undefined ? text : `${text} ${this.#textOf(comment)}`, gap)
      this.#last = { kind, end: comment?.end ?? span.end }
      this.#below = indents[kind][1]
    }
    this.#comments(this.#take(file.text.length + 1), undefined)
    return this.#text
  }

  #row(text: string, gap: boolean): void {
    this.#text += `${gap && this.#text !== "" ? "\n" : ""}${text}\n`
  }

  /**
   * Prints the comments before a statement. Returns true when the statement must follow them without an empty line. Comments above a type or
   * condition belong to it, unless they are indented deeper or an empty line separates them: then they belong to the previous block.
   */
  #comments(comments: readonly Span[], next: StatementNode | undefined): boolean {
    const top = next === undefined || isTopLevel(next)
    const column = next === undefined ? 0 : this.#column(next.span.start)
    const isBelow = (comment: Span) => top && this.#column(comment.start) > column
    let attached = comments.length
    let following = next?.span.start
    for (const comment of [...comments].reverse()) {
      if (following === undefined || isBelow(comment) || this.#breaks(comment.end, following) > 1) break
      following = comment.start
      attached--
    }
    comments.forEach((comment, at) => {
      const below = isBelow(comment)
      const indent = below ? this.#below : top ? "" : indents[next.kind][0]
      const forced = top && next !== undefined && at === attached
      const closed = (below || !top) && openers.has(this.#last?.kind)
      this.#row(indent + this.#textOf(comment), forced || (!closed && this.#isGap(comment.start)))
      this.#last = { kind: undefined, end: comment.end }
    })
    return attached < comments.length
  }

  /** One statement. Expressions are printed as they were written, because their lines are part of the JSON. */
  #statement(statement: StatementNode): string {
    switch (statement.kind) {
      case "model":
      case "relations":
        return statement.kind
      case "schema":
      case "module":
        return `${statement.kind} ${statement.value}`
      case "type":
        return `${statement.extend ? "extend " : ""}type ${statement.name}`
      case "define":
        return this.#define(statement)
      case "condition":
        return this.#condition(statement)
    }
  }

  #define({ relation: { name, rewrite } }: Extract<StatementNode, { kind: "define" }>): string {
    if (rewrite === undefined) throw new Error("a broken relation cannot be formatted")
    const list = listOf(rewrite)
    return `define ${name.text}: ${rewriteText(lowerRewrite(rewrite), list === undefined ? "" : this.#list(list)) ?? ""}`
  }

  #list({ restrictions, span }: Extract<Rewrite, { kind: "direct" }>): string {
    const items = restrictions.map((each) => {
      return { start: each.span.start, text: referenceText(lowerRestriction(each)) }
    })
    return this.#items(["[", "]"], items, { open: span.start, close: span.end - 1 }, "    ")
  }

  #condition({ condition, body, cuts, span }: Extract<StatementNode, { kind: "condition" }>): string {
    const { name, parameters } = condition
    const open = this.#layout.file.text.indexOf("(", name.span.end)
    const items = parameters.map((each) => ({ start: each.name.span.start, text: parameterText(each) }))
    const header = this.#items(["(", ")"], items, { open, close: body.start }, "")
    return `condition ${name.text}${header} ${formatBody(span.file.text, body, cuts)}`
  }

  /** A list in brackets: on one line if the source has it on one line, otherwise one entry per line with its comments. */
  #items(
    [opener, closer]: readonly [string, string],
    items: readonly { readonly start: number; readonly text: string }[],
    { open, close }: { readonly open: number; readonly close: number },
    indent: string,
  ): string {
    if (this.#breaks(open, close) === 0) return opener + items.map(({ text }) => text).join(", ") + closer
    const inner = `${indent}  `
    const lines = [opener]
    const first = this.#behind(open, items[0]?.start ?? close)
    if (first !== undefined) lines[0] += ` ${this.#textOf(first)}`
    const addBefore = (limit: number) => {
      for (const comment of this.#take(limit)) lines.push(inner + this.#textOf(comment))
    }
    items.forEach(({ start, text }, at) => {
      addBefore(start)
      const comma = at < items.length - 1 ? "," : ""
      const comment = this.#behind(start, items[at + 1]?.start ?? close)
      lines.push(`${inner}${text}${comma}${comment === undefined ? "" : ` ${this.#textOf(comment)}`}`)
    })
    addBefore(close)
    return `${lines.join("\n")}\n${indent}${closer}`
  }

  /** Takes the next comment if it is on the same line as an offset, before a limit. */
  #behind(offset: number, limit: number): Span | undefined {
    const comment = this.#layout.comments[this.#nextComment]
    if (comment === undefined || comment.start >= limit || this.#breaks(offset, comment.start) !== 0)
      return undefined
    this.#nextComment++
    return comment
  }

  /** The comments before an offset that are not printed yet. */
  #take(limit: number): readonly Span[] {
    const { comments } = this.#layout
    const from = this.#nextComment
    while ((comments[this.#nextComment]?.start ?? limit) < limit) this.#nextComment++
    return comments.slice(from, this.#nextComment)
  }

  #textOf({ start, end }: Span): string {
    return this.#layout.file.text.slice(start, end).trimEnd()
  }

  #isGap(start: number): boolean {
    return this.#last !== undefined && this.#breaks(this.#last.end, start) > 1
  }

  /** Number of line ends between two offsets. */
  #breaks(from: number, to: number): number {
    return this.#line(to) - this.#line(from)
  }

  #column(offset: number): number {
    return offset - (this.#lineStarts[this.#line(offset)] as number)
  }

  /** The line number of an offset, from 0. Unlike in a file's positions, a lone CR ends a line here, as in the language. */
  #line(offset: number): number {
    let low = 0
    let high = this.#lineStarts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#lineStarts[middle] as number) <= offset) low = middle
      else high = middle - 1
    }
    return low
  }
}

function isTopLevel({ kind }: StatementNode): boolean {
  return kind === "type" || kind === "condition"
}

function parameterText({ name, type, generic }: ParameterNode): string {
  return `${name.text}: ${generic === undefined ? type : `${type}<${generic}>`}`
}

/**
 * The body of a condition, from `{` to `}`, with the braces on separate lines. The first line of the expression and the comments before it are
 * indented. The rest is kept except for spaces at line ends, because it is part of the expression.
 */
function formatBody(text: string, body: Span, cuts: ConditionBody["cuts"]): string {
  const inner = withoutBlanks(text, body, cuts)
  // A `#` directly after the brace does not begin a comment, but it would on its own line.
  if (inner.startsWith("#") && text[body.start + 1] === "#") return `{${inner.trimEnd()}\n}`
  const lines = inner.trim().split("\n")
  const first = lines.findIndex((line) => !line.trimStart().startsWith("#"))
  const head = lines.slice(0, first === -1 ? lines.length : first + 1).map((line) => line.trim())
  const rest = first === -1 ? [] : lines.slice(first + 1)
  if (head.length === 1 && head[0] === "") return "{\n}"
  const start = head.length === 1 && beginsDefinition(head[0] as string) ? "{ " : "{\n  "
  return `${start}${[head.join("\n  "), ...rest].join("\n")}\n}`
}

/** The content of the braces, with comments, without spaces at line ends. */
function withoutBlanks(text: string, { start, end }: Span, cuts: ConditionBody["cuts"]): string {
  let kept = ""
  let from = start + 1
  for (const cut of cuts) {
    kept += text.slice(from, cut.start)
    const cutText = text.slice(cut.start, cut.end)
    const sign = cutText.indexOf("#")
    const [blanks, comment] = sign === -1 ? [cutText, ""] : [cutText.slice(0, sign), cutText.slice(sign)]
    const alone = kept === "" || kept.endsWith("\n")
    // A lone CR ended the line before the comment.
    const before = alone ? blanks.replaceAll("\r", "") : blanks.includes("\r") ? "\r" : " "
    if (comment !== "") kept += before + comment.trimEnd()
    from = cut.end
  }
  return kept + text.slice(from, end - 1)
}
