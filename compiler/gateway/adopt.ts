import type { SourceFile, Span } from "../core/source.ts"
import type { Argument, Block, Document, Statement, Word } from "./ast.ts"
import { moveHead, moveStatement } from "./tree-spans.ts"

/** In how many levels of blocks statements are looked for: those of files, APIs and versions, whose statements are kept one by one. */
const levelsMax = 3

/** The statements of an earlier tree, to be found by their text. Made before the text of the file changes. */
export class EarlierStatements {
  /** By the text of their lines. */
  readonly #statements = new Map<string, Statement[]>()
  /** Those with a block, by the text of their lines up to the block, with what their block has. */
  readonly #outer = new Map<string, { readonly statement: Statement; readonly inner: EarlierStatements }[]>()

  private constructor(statements: readonly Statement[], text: string, level: number) {
    for (const statement of statements) {
      put(this.#statements, linesOf(text, statement.span.start, statement.span.end), statement)
      const { block } = statement
      if (block === undefined || level === levelsMax) continue
      const inner = new EarlierStatements(block.statements, text, level + 1)
      put(this.#outer, headOf(text, statement, block), { statement, inner })
    }
  }

  static of({ file, statements }: Document): EarlierStatements {
    return new EarlierStatements(statements, file.text, 1)
  }

  /** Statements with these lines. */
  withLines(lines: string): readonly Statement[] {
    return this.#statements.get(lines) ?? []
  }

  /** Statements with this text before their blocks. */
  withHead(head: string): readonly { readonly statement: Statement; readonly inner: EarlierStatements }[] {
    return this.#outer.get(head) ?? []
  }
}

/**
 * The statements of a tree that was parsed as a whole, with those of earlier trees in place of equal ones: they stay the same objects, with
 * their spans moved. Equal means everything that the tree has, and the text of the lines. `file` has the new text already.
 */
export function adopt(
  statements: readonly Statement[],
  file: SourceFile,
  earlier: readonly EarlierStatements[],
): readonly Statement[] {
  return new Adoption(file).statements(statements, earlier)
}

class Adoption {
  readonly #text: string
  /** The keywords of adopted statements. Copies of a statement share it: only one of them can be in the tree. */
  readonly #used = new Set<Word>()

  constructor({ text }: SourceFile) {
    this.#text = text
  }

  statements(made: readonly Statement[], earlier: readonly EarlierStatements[], level = 1): Statement[] {
    return made.map((each) => this.#whole(each, earlier, level) ?? this.#outer(each, earlier, level) ?? each)
  }

  /** An earlier statement that is equal. */
  #whole(made: Statement, earlier: readonly EarlierStatements[], level: number): Statement | undefined {
    const { start, end } = made.span
    const lines = linesOf(this.#text, start, end)
    for (const each of earlier)
      for (const statement of each.withLines(lines)) {
        const by = start - statement.span.start
        if (!this.#isFree(statement, level) || !isSameStatement(statement, made, by)) continue
        this.#use(statement, level)
        if (by !== 0) moveStatement(statement, by)
        return statement
      }
    return undefined
  }

  /** The statement with the keyword and the arguments of an earlier one, and with statements of its block. */
  #outer(made: Statement, earlier: readonly EarlierStatements[], level: number): Statement | undefined {
    const { block, keyword } = made
    if (block === undefined || level === levelsMax) return undefined
    const head = headOf(this.#text, made, block)
    const inner: EarlierStatements[] = []
    let found: Statement | undefined
    for (const each of earlier)
      for (const { statement, inner: within } of each.withHead(head)) {
        // All trees can have the statement, with different blocks.
        inner.push(within)
        const by = keyword.span.start - statement.keyword.span.start
        if (found !== undefined || this.#used.has(statement.keyword)) continue
        if (!isSameHead(statement, made, by)) continue
        this.#used.add(statement.keyword)
        if (by !== 0) moveHead(statement, by)
        found = statement
      }
    if (found === undefined) return undefined
    const statements = this.statements(block.statements, inner, level + 1)
    return { ...made, keyword: found.keyword, args: found.args, block: { ...block, statements } }
  }

  #isFree({ keyword, block }: Statement, level: number): boolean {
    if (this.#used.has(keyword)) return false
    return level === levelsMax || (block?.statements ?? []).every((each) => this.#isFree(each, level + 1))
  }

  #use({ keyword, block }: Statement, level: number): void {
    this.#used.add(keyword)
    if (level < levelsMax) for (const each of block?.statements ?? []) this.#use(each, level + 1)
  }
}

function put<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, [value])
  else known.push(value)
}

/** The whole lines of a part: what stands beside a statement can change how it is understood. */
function linesOf(text: string, from: number, to: number): string {
  const start = from === 0 ? 0 : text.lastIndexOf("\n", from - 1) + 1
  const end = text.indexOf("\n", to)
  return text.slice(start, end < 0 ? text.length : end)
}

function headOf(text: string, { keyword }: Statement, { open }: Block): string {
  return linesOf(text, keyword.span.start, open.end)
}

function isSameStatement(a: Statement, b: Statement, by: number): boolean {
  const [one, other] = [a.otherwise, b.otherwise]
  return (
    isSameSpan(a.span, b.span, by) &&
    isSameHead(a, b, by) &&
    isSameBlock(a.block, b.block, by) &&
    (one === undefined || other === undefined
      ? one === other
      : isSameSpan(one.keyword, other.keyword, by) &&
        isSameBlock(one.block, other.block, by) &&
        (one.when === undefined || other.when === undefined
          ? one.when === other.when
          : isSameStatement(one.when, other.when, by)))
  )
}

/** Keyword, arguments, and whether they were understood. */
function isSameHead(a: Statement, b: Statement, by: number): boolean {
  return a.broken === b.broken && isSameArgument(a.keyword, b.keyword, by) && isSameList(a.args, b.args, by)
}

function isSameBlock(a: Block | undefined, b: Block | undefined, by: number): boolean {
  if (a === undefined || b === undefined) return a === b
  return (
    isSameSpan(a.open, b.open, by) &&
    isSameSpan(a.close, b.close, by) &&
    a.statements.length === b.statements.length &&
    a.statements.every((each, at) => isSameStatement(each, b.statements[at] as Statement, by))
  )
}

function isSameList(a: readonly Argument[], b: readonly Argument[], by: number): boolean {
  return a.length === b.length && a.every((each, at) => isSameArgument(each, b[at] as Argument, by))
}

function isSameArgument(a: Argument, b: Argument, by: number): boolean {
  if (!isSameSpan(a.span, b.span, by)) return false
  if (a.kind === "word") return b.kind === "word" && a.text === b.text
  if (a.kind === "cel") return b.kind === "cel" && a.source === b.source
  if (a.kind === "call")
    return b.kind === "call" && isSameArgument(a.name, b.name, by) && isSameList(a.args, b.args, by)
  if (a.kind === "equals") return b.kind === "equals"
  return b.kind === "text" && a.form === b.form && isSameText(a.parts, b.parts, by)
}

type Parts = Extract<Argument, { readonly kind: "text" }>["parts"]

function isSameText(a: Parts, b: Parts, by: number): boolean {
  const same = (one: Parts[number], other: Parts[number] | undefined): boolean => {
    if (other === undefined || !isSameSpan(one.span, other.span, by)) return false
    if (one.kind === "cel") return other.kind === "cel" && one.source === other.source
    return other.kind === "literal" && one.value === other.value
  }
  return a.length === b.length && a.every((each, at) => same(each, b[at]))
}

function isSameSpan(a: Span, b: Span, by: number): boolean {
  return a.start + by === b.start && a.end + by === b.end
}
