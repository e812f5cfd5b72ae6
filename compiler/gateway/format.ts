import type { Argument, Block, Comment, Document, Otherwise, Statement, TextArgument } from "./ast.ts"

const step = "  "

/**
 * Formats a file of gateway.conf. Indents by two spaces per level, aligns arguments in runs of one-line statements, keeps at most one empty
 * line, puts trailing comments after two spaces, moves `{` and `else` up and writes LF. Formatting twice changes nothing, and the meaning
 * stays the same. Blocks written on one line stay on one line.
 *
 * @throws Error when a statement is broken. Callers check the report first.
 *
 * @example
 * const document = parseGateway(file, report)
 * if (!report.blocked) write(formatGateway(document))
 */
export function formatGateway(document: Document): string {
  const printer = new Printer(document)
  return printer.print()
}

/** A line of the output for a statement or comment, before alignment. */
interface Row {
  /** Undefined for a comment on its own line. */
  readonly keyword: string | undefined
  /** Everything after the keyword, including further lines. Empty if there is nothing. */
  readonly rest: string
  /** The trailing comment. */
  readonly trailing: string | undefined
  readonly oneLine: boolean
  /** An empty line precedes it. */
  readonly gap: boolean
}

/** Prints a document in order. `#next` is the first comment that is not printed yet. */
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
   * Formats the lines of a block: its statements, and the comments up to `limit`. `before` are the comments at the head of the block, with
   * the line of its `{`.
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
      // The comment after `a; b; c` belongs to `c`.
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

  /** Everything of a statement except its keyword. */
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

  /** `{ … }`, on one line if the source has it on one line. Comments before the `{` move after it. */
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

  /** Comments between the statement's head and its `{`, and the comment after the `{` on the same line. */
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

  /** Texts are printed as they were written: escapes have several forms, and the author chose one. */
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

  /** A heredoc with its closing tag indented like its statement. Indentation of a line beyond the tag's is kept. */
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

  /** Returns the next comment that is not printed yet, if it begins before `limit`. */
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

/** Formats rows; keywords are padded within runs of one-line statements. */
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
