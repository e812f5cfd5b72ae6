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
  /** The block after `else`; `else when` is a block of that one statement. */
  readonly otherwise: BoundBlock | undefined
  /** Its arguments were not understood (reported): nothing may be concluded from it. */
  readonly broken: boolean
}

export interface BoundBlock {
  readonly name: BlockName
  readonly statements: readonly BoundStatement[]
  /** Something in it was not understood: what seems missing may be there. */
  readonly damaged: boolean
  /** Statements whose keyword is not known. */
  readonly unknown: readonly Statement[]
}

/** An argument in its slot. `value` is what its literal means (a number of milliseconds, a parsed path, …), by kind of slot. */
export interface Filled {
  readonly slot: Slot
  readonly argument: Argument
  readonly value: unknown
}

/** The arguments of a statement by slot. Getters answer undefined for a slot that is not filled. */
export class Args {
  readonly filled: readonly Filled[]

  constructor(filled: readonly Filled[]) {
    this.filled = filled
  }

  get(slot: string): Filled | undefined {
    return this.filled.find((each) => each.slot.slot === slot)
  }

  all(slot: string): readonly Filled[] {
    return this.filled.filter((each) => each.slot.slot === slot)
  }

  /** A value of the slot's literal; the caller knows the slot's kind from the row. */
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

/** The statements of one keyword that were understood. */
export function statementsOf(block: BoundBlock | undefined, keyword: string): BoundStatement[] {
  if (block === undefined) return []
  return block.statements.filter((each) => each.row.keyword === keyword && !each.broken)
}

/** The one statement of a keyword, if it is there and was understood. */
export function statementOf(block: BoundBlock | undefined, keyword: string): BoundStatement | undefined {
  return block?.statements.find((each) => each.row.keyword === keyword && !each.broken)
}

/** Whether a statement of this keyword stands there at all, understood or not. */
export function mentions(block: BoundBlock | undefined, keyword: string): boolean {
  return block?.statements.some((each) => each.row.keyword === keyword) ?? false
}

/** Keyword and arguments, without the block. */
export function headSpan({ keyword, args }: Statement): Span {
  return { file: keyword.span.file, start: keyword.span.start, end: (args.at(-1) ?? keyword).span.end }
}
