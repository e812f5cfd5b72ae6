import type { Span } from "../core/source.ts"
import type { Insight } from "../gateway/insight.ts"
import { fenced } from "./markdown.ts"
import { operationsIn, placeText, shortText } from "./routes-at.ts"

/** A text that an editor shows inside of a line. */
export interface InlayHint {
  /** The hint stands before this offset. */
  readonly at: Span
  readonly parts: readonly HintPart[]
}

/** A part of a hint, with the statement that it stands for. */
export interface HintPart {
  readonly text: string
  /** Markdown. */
  readonly docs: string
  readonly span: Span
}

/** More would hide the line. */
const partsMax = 8
const textMax = 40

/** Behind the path of each operation in a part of a file: the statements that it inherits from outer blocks, policies and products. */
export function inheritedHints(path: string, start: number, end: number, insight: Insight): InlayHint[] {
  return operationsIn(path, insight).flatMap(({ head, applying }): InlayHint[] => {
    if (head.end < start || head.start > end) return []
    const inherited = applying.filter(({ own }) => !own)
    if (inherited.length === 0) return []
    const parts = inherited.slice(0, partsMax).map(({ statement, scope }): HintPart => {
      const text = shortText(statement)
      return {
        text: text.length > textMax ? `${text.slice(0, textMax - 1)}…` : text,
        docs: `${fenced(text)}\n\nfrom ${scope}, ${placeText(statement.span)}`,
        span: statement.keyword.span,
      }
    })
    const [more] = inherited.slice(partsMax)
    const left = inherited.length - partsMax
    if (more !== undefined)
      parts.push({ text: `+${left}`, docs: `${left} more statements`, span: more.statement.keyword.span })
    return [{ at: { ...head, start: head.end }, parts }]
  })
}
