import type { Argument, Block, Document, Statement } from "../gateway/ast.ts"
import { matchArguments } from "../gateway/bind/match.ts"
import type { BlockName } from "../gateway/schema/block-name.ts"
import { blocks } from "../gateway/schema/blocks.ts"
import type { StatementRow } from "../gateway/schema/row.ts"

/** An offset of gateway.conf, as the language sees it. */
export interface GatewayPlace {
  /** The innermost block that has the offset. */
  readonly block: BlockName
  /** The statement whose keyword or arguments have the offset, or end before it on the same line. */
  readonly statement: Statement | undefined
  /** What the language says about it; undefined for an unknown keyword. */
  readonly row: StatementRow | undefined
  /** The argument that has the offset. */
  readonly argument: Argument | undefined
  /** The statements whose blocks have the offset, the outermost first. */
  readonly outer: readonly Statement[]
  /** The statements of the innermost block. */
  readonly siblings: readonly Statement[]
}

/** The row of a keyword in a block. */
export function rowOf(block: BlockName, keyword: string): StatementRow | undefined {
  return blocks[block].rows.find((row) => row.keyword === keyword) ?? blocks[block].anyKeyword
}

/** Follows the statements of a document down to an offset. `around`: where the document stands, if it is a part of a file. */
export function placeInGateway(
  document: Document,
  offset: number,
  around?: Pick<GatewayPlace, "block" | "outer" | "siblings">,
): GatewayPlace {
  const { text } = document.file
  const outer: Statement[] = [...(around?.outer ?? [])]
  const depth = outer.length
  let block: BlockName = around?.block ?? "file"
  let statements = document.statements
  for (;;) {
    const opened = statements.find((each) => innerBlock(each, offset) !== undefined)
    const next: BlockName | undefined = opened === undefined ? undefined : blockNameOf(block, opened)
    if (opened === undefined || next === undefined) break
    outer.push(opened)
    const inner = innerBlock(opened, offset)
    statements = inner?.statements ?? []
    // `else when` has its statement where others have a block.
    if (inner !== undefined) block = next
  }
  const statement = statements.find((each) => isInHead(each, offset, text))
  const row = statement === undefined ? undefined : rowOf(block, statement.keyword.text)
  const argument = statement?.args.find(({ span }) => span.start <= offset && offset <= span.end)
  const siblings = outer.length > depth ? statements : [...(around?.siblings ?? []), ...statements]
  return { block, statement, row, argument, outer, siblings }
}

/** The name of the block that a statement opens. */
export function blockNameOf(within: BlockName, statement: Statement): BlockName | undefined {
  const row = rowOf(within, statement.keyword.text)
  if (row === undefined) return undefined
  return matchArguments(row, statement.args).form.block ?? row.forms.find((form) => form.block)?.block
}

/** The block of a statement, or one after its `else`, that has the offset. */
function innerBlock({ block, otherwise }: Statement, offset: number): Block | undefined {
  for (const each of [block, otherwise?.block, otherwise?.when?.block])
    if (each !== undefined && each.open.end <= offset && offset <= each.close.start) return each
  return undefined
}

/** Whether the offset is in the keyword or in the arguments, or after them and before anything else on the line. */
function isInHead({ keyword, args, block }: Statement, offset: number, text: string): boolean {
  if (offset < keyword.span.start || (block !== undefined && offset > block.open.start)) return false
  const end = (args.at(-1) ?? keyword).span.end
  return offset <= end || /^[ \t]*$/.test(text.slice(end, offset))
}
