import type { SourceFile } from "../../core/source.ts"
import type { CommentNode, Element } from "../ast.ts"
import { printStep } from "./print-step.ts"
import { type ConversionLoss, type ConvertedBlock, type ConvertedLine, stand, type Unit } from "./units.ts"
import { commentLines } from "./write-text.ts"

const plain = (text: string): ConvertedLine => ({ text })

/** The lines of units. Blocks of `parallel` are statements of their own, those of `when` a chain. */
export function linesOf(units: readonly Unit[]): ConvertedLine[] {
  return units.flatMap((unit): ConvertedLine[] => {
    if (unit.kind === "comment") return unit.lines.map(plain)
    if (unit.kind === "loss") return lossLines(unit)
    const { element, blocks } = unit
    const own = (text: string): ConvertedLine => ({ text, element })
    const head = unit.lines.map(own)
    if (blocks.length === 0) return head
    const isParallel = head.length > 0
    const inner = isParallel
      ? blocks.flatMap((each) => [own(each.open), ...linesOf(each.units), own("}")])
      : chained(blocks, element)
    return [...head, ...inner, own("}")]
  })
}

function chained(blocks: readonly ConvertedBlock[], whole: Element): ConvertedLine[] {
  return blocks.flatMap(({ open, units, element = whole }, index) => [
    { text: index === 0 ? open : `} ${open}`, element },
    ...linesOf(units),
  ])
}

/** The original policy as a comment, the reason, and the replacement. */
function lossLines(loss: ConversionLoss): ConvertedLine[] {
  const { document, element, reason, closed, branch } = loss
  const { file } = document
  const at = branch?.element ?? element
  const { line, column } = file.position(at.span.start)
  const original = branch === undefined ? file.text.slice(at.span.start, at.span.end) : startTag(at, file)
  const outdented = original
    .split(/\r?\n/)
    .map((text, index) =>
      index === 0 ? text : text.slice(Math.min(column - 1, text.length - text.trimStart().length)),
    )
    .join("\n")
  const own = [
    ...commentLines(
      `not converted, ${file.path}:${line}: ${reason}${branch === undefined ? "" : "; it belongs in the place of `false`"}`,
    ),
    ...commentLines(outdented).map((text) => text.replace(/^#/, "#  ")),
    ...(closed ? [stand(loss)] : []),
    ...(loss.sets ?? []).flatMap(printStep),
  ].map((text) => ({ text, element }))
  return branch === undefined ? own : [...own, ...linesOf([branch.rest])]
}

/** `<when condition="…">`. */
function startTag({ span, attributes, name }: Element, { text }: SourceFile): string {
  const end = Math.max(span.start + name.length + 1, ...attributes.map(({ raw }) => raw.span.end + 1))
  return `${text.slice(span.start, end)}>`
}

/** Comments of a document as lines. */
export function commentsOf(comments: readonly CommentNode[]): string[] {
  return comments.flatMap(({ text }) => commentLines(text))
}

/** A place in the format of findings. */
export function placeOf(file: SourceFile, offset: number): string {
  const { line, column } = file.position(offset)
  return `${file.path}:${line}:${column}`
}
