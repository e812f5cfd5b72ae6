import type { Report } from "../../core/diagnostic.ts"
import { didYouMean, soleNearest } from "../../core/nearest.ts"
import { shown } from "../../core/shown.ts"
import type { Argument, Statement } from "../ast.ts"
import { noComment } from "../junk.ts"
import type { BlockName } from "../schema/block-name.ts"
import { blocks, laterWords } from "../schema/blocks.ts"
import { listed } from "../schema/slots.ts"

/** A block, as far as its keywords go. */
export interface KeywordBlock {
  readonly name: BlockName
  /** The statement that has the block. */
  readonly owner: Statement | undefined
  /** Its keywords, those that it can still have first. */
  readonly candidates: readonly string[]
}

/** Reports a keyword that its block does not accept: one of other blocks, of a later version, or an unknown one. */
export function reportKeyword(
  statement: Statement,
  { name, owner, candidates }: KeywordBlock,
  report: Report,
): void {
  const { text, span } = statement.keyword
  const later = laterWords.find(
    (each) => each.word === text && each.after === undefined && each.blocks.includes(name),
  )
  if (later !== undefined) {
    report.add("SP2003", span, `\`${text}\` (${later.docs}) is not available yet`)
    return
  }
  const homes = homesOf(text)
  if (homes.length > 0) {
    const line =
      owner === undefined ? undefined : owner.keyword.span.file.position(owner.keyword.span.start).line
    const unclosed =
      name === "file" || line === undefined ? "" : ` Or is the \`{\` of line ${line} not closed?`
    const first = statement.args.find(
      (each) => each.kind === "word" && blocks[name].rows.some((row) => row.keyword === each.text),
    )
    const order = first?.kind === "word" ? `Begin with the keyword: \`${first.text} ${text} …\`. ` : ""
    const help = `${order}${order === "" ? "It" : `Otherwise, \`${text}\``} belongs in ${listed(homes, "or")}.${unclosed}`
    const related =
      owner === undefined ? [] : [{ span: owner.keyword.span, message: "the block that contains it" }]
    report.add("SP2002", span, `\`${text}\` is not allowed in ${blocks[name].title}`, { help, related })
    return
  }
  const elsewhere = laterWords.find((each) => each.word === text && each.after === undefined)
  if (elsewhere !== undefined) {
    report.add("SP2003", span, `\`${text}\` (${elsewhere.docs}) is not available yet`)
    return
  }
  const mark = /^(?:\/\/|\/\*|--)/.exec(text)?.[0]
  if (mark !== undefined) {
    report.add("SP1036", span, noComment(mark))
    return
  }
  const keywords = blocks[name].rows.map((row) => row.keyword)
  const meant = soleNearest(text, candidates)
  const near = didYouMean(text, candidates)
  // It may be the word of another gateway; the manual has those too.
  const manual =
    near === "" && /^[a-z][\w-]+$/i.test(text) ? ` \`sallyport docs ${text}\` searches the manual.` : ""
  report.add("SP2001", span, `${blocks[name].title} has no statement \`${shown(text)}\`${near}`, {
    help: `Allowed here: ${listed(
      keywords.map((keyword) => `\`${keyword}\``),
      "and",
    )}.${manual}`,
    fix: meant === undefined ? undefined : [{ span, text: meant }],
  })
}

/** The finding for a second word that only a later version supports, e.g. `auth policy`. */
export function laterArgument(keyword: string, argument: Argument): string | undefined {
  if (argument.kind !== "word") return undefined
  const later = laterWords.find((each) => each.after === keyword && each.word === argument.text)
  return later === undefined
    ? undefined
    : `\`${keyword} ${argument.text}\` (${later.docs}) is not available yet`
}

function homesOf(keyword: string): string[] {
  const names = Object.keys(blocks) as BlockName[]
  return names
    .filter((name) => blocks[name].rows.some((row) => row.keyword === keyword))
    .map((name) => blocks[name].title)
}
