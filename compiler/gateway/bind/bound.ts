import { compactList } from "../../core/compact.ts"
import type { Span } from "../../core/source.ts"
import type { Argument, Call, CelArgument, Statement, TextArgument, Word } from "../ast.ts"
import type { BlockName } from "../schema/block-name.ts"
import type { Form, Slot, StatementRow } from "../schema/row.ts"

/** A statement after binding: its row, its arguments by slot, its block. */
export interface BoundStatement {
  readonly row: StatementRow
  readonly form: Form
  readonly statement: Statement
  readonly args: Args
  readonly block: BoundBlock | undefined
  /** The block after `else`. For `else when` this is a block with that one statement. */
  readonly otherwise: BoundBlock | undefined
  /** The arguments were not understood and are reported: draw no conclusions from this statement. */
  readonly broken: boolean
}

/** A block after binding. */
export interface BoundBlock {
  readonly name: BlockName
  readonly statements: readonly BoundStatement[]
  /** Something in the block was not understood: a statement that seems missing may be there. */
  readonly damaged: boolean
  /** Statements with an unknown keyword. */
  readonly unknown: readonly Statement[]
  /** The keywords that the unknown ones most likely mean. Undefined: any, e.g. because the line of the block's own statement is damaged. */
  readonly guesses: readonly (string | undefined)[]
}

/** An argument in its slot. `value` is the parsed literal (a number of milliseconds, a path, …); its type depends on the kind of slot. */
export interface Filled {
  readonly slot: Slot
  readonly argument: Argument
  readonly value: unknown
  /** The argument is the name of a value, which has the literal. */
  readonly isNamed?: true
  /** The environment variable that can replace the literal when the plan is loaded. */
  readonly variable?: string
}

/** The arguments of a statement by slot. Getters return undefined for an empty slot. */
export class Args {
  readonly filled: readonly Filled[]

  constructor(filled: readonly Filled[]) {
    this.filled = compactList(filled)
  }

  get(slot: string): Filled | undefined {
    // A loop, because `find` would make a closure for each of the thousands of statements that a keystroke asks.
    for (const each of this.filled) if (each.slot.slot === slot) return each
    return undefined
  }

  all(slot: string): readonly Filled[] {
    return this.filled.filter((each) => each.slot.slot === slot)
  }

  /** The parsed literal of a slot. The caller knows the slot's kind from the row. */
  value<Value>(slot: string): Value | undefined {
    return this.get(slot)?.value as Value | undefined
  }

  values<Value>(slot: string): readonly Value[] {
    return this.all(slot).map((each) => each.value as Value)
  }

  word(slot: string): Word | undefined {
    const argument = this.get(slot)?.argument
    return argument?.kind === "word" ? argument : undefined
  }

  words(slot: string): readonly Word[] {
    return this.all(slot).flatMap(({ argument }) => (argument.kind === "word" ? [argument] : []))
  }

  text(slot: string): TextArgument | Word | undefined {
    const argument = this.get(slot)?.argument
    return argument?.kind === "word" || argument?.kind === "text" ? argument : undefined
  }

  cel(slot: string): CelArgument | undefined {
    const argument = this.get(slot)?.argument
    return argument?.kind === "cel" ? argument : undefined
  }

  call(slot: string): Call | undefined {
    const argument = this.get(slot)?.argument
    return argument?.kind === "call" ? argument : undefined
  }
}

/** The statements with this keyword that were understood. */
export function statementsOf(block: BoundBlock | undefined, keyword: string): BoundStatement[] {
  return withKeyword(block, keyword).filter((each) => !each.broken)
}

/** The only statement with this keyword, if it exists and was understood. */
export function statementOf(block: BoundBlock | undefined, keyword: string): BoundStatement | undefined {
  return withKeyword(block, keyword).find((each) => !each.broken)
}

/** Whether any statement in a block, or in a block inside it, satisfies `isSuch`. It allocates nothing: an editor asks at each keystroke. */
export function anyInside(block: BoundBlock | undefined, isSuch: (each: BoundStatement) => boolean): boolean {
  if (block === undefined) return false
  for (const each of block.statements)
    if (isSuch(each) || anyInside(each.block, isSuch) || anyInside(each.otherwise, isSuch)) return true
  return false
}

/** All statements in a block, and in blocks inside it, that satisfy `isSuch`, in the order of the text. */
export function allInside(
  block: BoundBlock | undefined,
  isSuch: (each: BoundStatement) => boolean,
): BoundStatement[] {
  const found: BoundStatement[] = []
  anyInside(block, (each) => {
    if (isSuch(each)) found.push(each)
    return false
  })
  return found
}

/** Whether the block has a statement with this keyword, understood or not. */
export function mentions(block: BoundBlock | undefined, keyword: string): boolean {
  return withKeyword(block, keyword).length > 0
}

/** Statements by keyword. Each route queries its API's block for a few dozen keywords, and an API can have ten thousand routes. */
const indexes = new WeakMap<readonly BoundStatement[], ReadonlyMap<string, readonly BoundStatement[]>>()

/**
 * The statements of a block with one keyword. The index is made at the first question: lowering asks for each keyword in each block, for
 * every route.
 */
function withKeyword(block: BoundBlock | undefined, keyword: string): readonly BoundStatement[] {
  if (block === undefined) return []
  const known = indexes.get(block.statements)
  if (known !== undefined) return known.get(keyword) ?? []
  const index = new Map<string, BoundStatement[]>()
  for (const each of block.statements) {
    const same = index.get(each.row.keyword)
    if (same === undefined) index.set(each.row.keyword, [each])
    else same.push(each)
  }
  indexes.set(block.statements, index)
  return index.get(keyword) ?? []
}

/** Keyword and arguments, without the block. */
export function headSpan({ keyword, args }: Statement): Span {
  return { file: keyword.span.file, start: keyword.span.start, end: (args.at(-1) ?? keyword).span.end }
}
