import { textOf } from "../../core/source.ts"
import type { BoundBlock } from "./bound.ts"

/**
 * Whether a statement `keyword` that the block seems to lack may be one of those that were not understood. One with an unknown keyword may be
 * what it most likely means. One with a mistake in its arguments is itself. Both may have swallowed another statement of their lines.
 */
export function mayHide(block: BoundBlock | undefined, keyword: string): boolean {
  if (block === undefined || !block.damaged) return false
  return block.guesses.some((each) => each === undefined || each === keyword) || lostWords(block).has(keyword)
}

const known = new WeakMap<BoundBlock, ReadonlySet<string>>()

/** The words of the lines that were not understood, without their blocks. Each route asks for some keywords in each block around it. */
function lostWords(block: BoundBlock): ReadonlySet<string> {
  const earlier = known.get(block)
  if (earlier !== undefined) return earlier
  const broken = block.statements.filter((each) => each.broken)
  const words = new Set(broken.map(({ row }) => row.keyword))
  for (const { span, block: inner } of [...broken.map(({ statement }) => statement), ...block.unknown]) {
    const line = inner === undefined ? span : span.file.span(span.start, inner.open.start)
    for (const word of textOf(line).match(/[\w-]+/g) ?? []) words.add(word)
  }
  known.set(block, words)
  return words
}
