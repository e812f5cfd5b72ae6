import type { Argument, Block, Comment, Document, Otherwise, Statement, TextArgument } from "./ast.ts"

const step = "  "

/**
 * The canonical text of a file of gateway.conf: two blanks a level, the keyword column aligned in runs of one-line
 * statements, at most one blank line, trailing comments two blanks after, `{` and `else` moved up, LF line ends. It is
 * a fixed point (formatting twice changes nothing) and means the same; blocks written on one line stay on one line.
 *
 * The document must be sound: what was not understood cannot be printed. Throws when a statement is broken, so callers
 * look at the report first.
 *
 * @example
 * const document = parseGateway(file, report)
 * if (!report.blocked) write(formatGateway(document))
 */
export function formatGateway(document: Document): string {
  const printer = new Printer(document)
  return printer.print()
}

/** A line of the output that stands for a statement or comment, before keywords are aligned. */
interface Row {
  /** Undefined for a comment on its own line. */
  readonly keyword: string | undefined
  /** What follows the keyword, with all further lines. Empty when nothing does. */
  readonly rest: string
  /** The comment behind it. */
  readonly trailing: string | undefined
  readonly oneLine: boolean
  /** A blank line stands before it. */
  readonly gap: boolean
}

class Printer {
  readonly #document: Document
  #next = 0

  constructor(document: Document) {
    this.#document = document
  }

  print(): string {
    const { statements, file } = this.#document
    const lines = this.#body(statements, file.text.length, "", undefined)
    return lines.length === 0 ? "" : `${lines.join("\n")}\n`
  }

  /**
   * The lines of a block: its statements, and the comments up to `limit`. `before` are comments that stand at the head
   * of the block, and the line its `{` is on.
   */
  #body(
    statements: readonly Statement[],
    limit: number,
    indent: string,
    before: { readonly comments: readonly Comment[]; readonly line: number } | undefined,
  ): string[] {
    const rows: Row[] = (before?.comments ?? []).map((comment) => commentRow(comment, false))
    let last = before?.line
    const gapBefore = (line: number): boolean => rows.length > 0 && last !== undefined && line - last > 1
    const takeComments = (upTo: number): void => {
      for (let comment = this.#comment(upTo); comment !== undefined; comment = this.#comment(upTo)) {
        const line = this.#line(comment.span.start)
        rows.push(commentRow(comment, gapBefore(line)))
        last = line
        this.#next++
      }
    }
    for (const [index, statement] of statements.entries()) {
      takeComments(statement.span.start)
      const gap = gapBefore(this.#line(statement.span.start))
      const { text: keyword } = statement.keyword
      const rest = this.#rest(statement, indent)
      last = this.#line(statement.span.end)
      let trailing: string | undefined
      // The comment behind `a; b; c` belongs to `c`.
      const comment = this.#comment(statements[index + 1]?.span.start ?? limit)
      if (comment !== undefined && !comment.ownLine && this.#line(comment.span.start) === last) {
        trailing = comment.text
        this.#next++
      }
      rows.push({ keyword, rest, trailing, oneLine: !rest.includes("\n"), gap })
    }
    takeComments(limit)
    return align(rows, indent)
  }

  /** Everything of a statement but its keyword. */
  #rest(statement: Statement, indent: string): string {
    if (statement.broken) throw new Error("a broken statement cannot be formatted")
    let text = statement.args.map((argument) => this.#argument(argument, indent)).join(" ")
    if (statement.block !== undefined) text += this.#block(statement.block, text === "" ? "" : " ", indent)
    if (statement.otherwise !== undefined) text += this.#otherwise(statement.otherwise, indent)
    return text
  }

  #otherwise({ when, block }: Otherwise, indent: string): string {
    if (when !== undefined) return ` else when ${this.#rest(when, indent)}`
    return ` else${this.#block(block as Block, " ", indent)}`
  }

  /** `{ … }`, on one line if it was written on one. Comments before the `{` move behind it. */
  #block(block: Block, separator: string, indent: string): string {
    const openLine = this.#line(block.open.start)
    const head = this.#headComments(block, openLine)
    if (head.length === 0 && block.statements.length === 0 && this.#comment(block.close.start) === undefined)
      return `${separator}{}`
    if (head.length === 0 && openLine === this.#line(block.close.start))
      return `${separator}{ ${block.statements.map((statement) => this.#inline(statement)).join("; ")} }`
    const [first, ...others] = head
    const trailing = first !== undefined && !first.ownLine
    const before = { comments: trailing ? others : head, line: openLine }
    const lines = this.#body(block.statements, block.close.start, indent + step, before)
    return [`${separator}{${trailing ? `  ${first.text}` : ""}`, ...lines, `${indent}}`].join("\n")
  }

  /** Comments between the statement's head and its `{`, and the one behind the `{` on its line. */
  #headComments(block: Block, openLine: number): Comment[] {
    const comments: Comment[] = []
    for (let comment = this.#comment(block.open.start); comment !== undefined; ) {
      comments.push(comment)
      this.#next++
      comment = this.#comment(block.open.start)
    }
    const behind = this.#comment(block.statements[0]?.span.start ?? block.close.start)
    if (behind !== undefined && !behind.ownLine && this.#line(behind.span.start) === openLine) {
      comments.push(behind)
      this.#next++
    }
    return comments
  }

  #inline(statement: Statement): string {
    const rest = this.#rest(statement, "")
    return rest === "" ? statement.keyword.text : `${statement.keyword.text} ${rest}`
  }

  #argument(argument: Argument, indent: string): string {
    switch (argument.kind) {
      case "word":
        return argument.text
      case "equals":
        return "="
      case "cel":
        return `(${unixed(argument.source)})`
      case "call":
        return `${argument.name.text}(${argument.args.map((inner) => this.#argument(inner, indent)).join(", ")})`
      case "text":
        return argument.form === "heredoc" ? this.#heredoc(argument, indent) : this.#raw(argument)
    }
  }

  #raw({ span }: TextArgument): string {
    return this.#document.file.text.slice(span.start, span.end)
  }

  /** A heredoc whose closing tag stands below its statement. What lines have beyond the tag's indentation is kept. */
  #heredoc(text: TextArgument, indent: string): string {
    const tag = /^<<(\w+)/.exec(this.#raw(text))?.[1] as string
    let content = ""
    for (const part of text.parts) {
      if (part.kind === "cel") content += `${atLineStart(content) ? indent : ""}\${${unixed(part.source)}}`
      else {
        for (const line of part.value.replaceAll("${", () => "$${").match(/[^\n]*\n|[^\n]+$/g) ?? [])
          content += atLineStart(content) && line !== "\n" ? indent + line : line
      }
    }
    return `<<${tag}\n${content}${indent}${tag}`
  }

  /** The next comment not printed yet, if it begins before `limit`. */
  #comment(limit: number): Comment | undefined {
    const comment = this.#document.comments[this.#next]
    return comment !== undefined && comment.span.start < limit ? comment : undefined
  }

  #line(offset: number): number {
    return this.#document.file.position(offset).line
  }
}

function commentRow(comment: Comment, gap: boolean): Row {
  return { keyword: undefined, rest: comment.text, trailing: undefined, oneLine: true, gap }
}

function atLineStart(text: string): boolean {
  return text === "" || text.endsWith("\n")
}

function unixed(text: string): string {
  return text.replaceAll("\r\n", "\n")
}

/** Lays rows out; keywords are padded within runs of one-line statements. */
function align(rows: readonly Row[], indent: string): string[] {
  const lines: string[] = []
  for (let from = 0; from < rows.length; ) {
    let to = from + 1
    while (isRun(rows[from] as Row) && to < rows.length && isRun(rows[to] as Row) && !(rows[to] as Row).gap)
      to++
    const run = rows.slice(from, to)
    const width = Math.max(...run.map(({ keyword, rest }) => (rest === "" ? 0 : (keyword ?? "").length)))
    for (const { keyword, rest, trailing, gap } of run) {
      if (gap) lines.push("")
      const padded = keyword === undefined || rest === "" ? keyword : `${keyword.padEnd(width)} `
      lines.push(`${indent}${padded ?? ""}${rest}${trailing === undefined ? "" : `  ${trailing}`}`)
    }
    from = to
  }
  return lines
}

function isRun(row: Row): boolean {
  return row.keyword !== undefined && row.oneLine
}
