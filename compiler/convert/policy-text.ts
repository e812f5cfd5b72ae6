import type { SourceFile } from "../core/source.ts"
import type { Comment } from "../policy/ast.ts"
import { type Block, type Line, type Loss, stand, type Unit } from "./units.ts"
import { commentLines } from "./write-text.ts"

const plain = (text: string): Line => ({ text })

/** Lines of a block of the text. */
export function linesOf(units: readonly Unit[]): Line[] {
  return units.flatMap((unit): Line[] => {
    if (unit.kind === "comment") return unit.lines.map(plain)
    if (unit.kind === "loss") return lossLines(unit)
    const { element, blocks } = unit
    const own = (text: string): Line => ({ text, element })
    const head = unit.lines.map(own)
    if (blocks.length === 0) return head
    const isParallel = head.length > 0
    const inner = isParallel
      ? blocks.flatMap((each) => [own(each.open), ...linesOf(each.units), own("}")])
      : chained(blocks, own)
    return [...head, ...inner, own("}")]
  })
}

function chained(blocks: readonly Block[], own: (text: string) => Line): Line[] {
  return blocks.flatMap(({ open, units }, index) => [
    own(index === 0 ? open : `} ${open}`),
    ...linesOf(units),
  ])
}

/** The original as a comment, why, and what stands in its place. */
function lossLines(loss: Loss): Line[] {
  const { document, element, reason, closed, from } = loss
  const { file } = document
  const start = (from ?? element).span.start
  const { line } = file.position(start)
  // A branch and all behind it, up to the end of what holds it.
  const end = from === undefined ? element.span.end : element.span.end - `</${element.name}>`.length
  const original = file.text.slice(start, end)
  const column = file.position(start).column - 1
  const outdented = original
    .split(/\r?\n/)
    .map((text, index) =>
      index === 0 ? text : text.slice(Math.min(column, text.length - text.trimStart().length)),
    )
    .join("\n")
  return [
    ...commentLines(`not converted, ${file.path}:${line}: ${reason}`),
    ...commentLines(outdented).map((text) => text.replace(/^#/, "#  ")),
    ...(closed ? [stand(loss)] : []),
  ].map((text) => ({ text, element }))
}

/** Comments of a document as lines. */
export function commentsOf(comments: readonly Comment[]): string[] {
  return comments.flatMap(({ text }) => commentLines(text))
}

/** Where something stands, as findings have it. */
export function placeOf(file: SourceFile, offset: number): string {
  const { line, column } = file.position(offset)
  return `${file.path}:${line}:${column}`
}
