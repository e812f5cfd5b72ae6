import type { Span } from "../core/source.ts"
import type { ConditionNode, ExpressionNode, ParameterNode } from "./ast.ts"
import { readSimpleName } from "./expressions.ts"
import type { ModelMistakes } from "./mistakes.ts"
import type { RawParameter, RawStatement } from "./parser.ts"
import { type BodyToken, endOf } from "./tokens.ts"

/** A condition with its parameters; its expression is undefined if the braces are wrong. */
export function buildCondition(
  raw: Extract<RawStatement, { kind: "condition" }>,
  mistakes: ModelMistakes,
): ConditionNode {
  return {
    name: readSimpleName(raw.name, mistakes),
    parameters: raw.parameters.map((each) => buildParameter(each, mistakes)),
    expression: buildExpression(raw.body as BodyToken, mistakes),
  }
}

function buildParameter(raw: RawParameter, mistakes: ModelMistakes): ParameterNode {
  return { name: readSimpleName(raw.name, mistakes), type: raw.type.image, generic: raw.generic?.image }
}

/** The text between the braces. `{` must be on the line of `)`: OpenFGA's language demands it. */
function buildExpression(token: BodyToken, mistakes: ModelMistakes): ExpressionNode | undefined {
  const { file } = mistakes
  const start = token.startOffset
  const brace = file.span(start, start + 1)
  const { payload } = token
  if (!payload.closed) {
    mistakes.add("SP4008", brace, "this `{` has no `}`")
    return undefined
  }
  if (/[\r\n]/.test(file.text.slice(file.text.lastIndexOf(")", start), start))) {
    mistakes.add("SP4017", brace, "`{` is on its own line", { help: "Put `{` on the line of `)`." })
  }
  return readExpression(token, mistakes)
}

/** The text between the braces without the scanner's cuts, and the places of its pieces in the file. */
function readExpression(token: BodyToken, { file }: ModelMistakes): ExpressionNode {
  const pieces: { at: number; start: number }[] = []
  const inner = { start: token.startOffset + 1, end: endOf(token) - 1 }
  let text = ""
  let from = inner.start
  const take = (until: number) => {
    if (until > from) {
      pieces.push({ at: text.length, start: from })
      text += file.text.slice(from, until)
    }
  }
  for (const cut of token.payload.cuts) {
    take(cut.start)
    from = Math.max(from, cut.end)
  }
  take(inner.end)
  const blanks = text.length - text.trimStart().length
  const trimmed = text.trim()
  const kept = pieces
    .filter((_, index) => (pieces[index + 1]?.at ?? Number.POSITIVE_INFINITY) > blanks)
    .map(({ at, start }) => ({ at: Math.max(0, at - blanks), start: start + Math.max(0, blanks - at) }))
  const start = kept[0]?.start ?? inner.start
  const span = file.span(start, trimmed === "" ? start : placeIn(kept, trimmed.length - 1) + 1)
  return { text: trimmed, pieces: kept, span }
}

function placeIn(pieces: ExpressionNode["pieces"], offset: number): number {
  const piece = pieces.findLast(({ at }) => at <= offset)
  return piece === undefined ? 0 : piece.start + offset - piece.at
}

/** The place in the file of a range of an expression's text. */
export function spanInExpression(expression: ExpressionNode, range: { start: number; end: number }): Span {
  const { file, end: last } = expression.span
  if (expression.text === "") return expression.span
  const start = range.start >= expression.text.length ? last : placeIn(expression.pieces, range.start)
  const end =
    range.end > range.start
      ? placeIn(expression.pieces, Math.min(range.end, expression.text.length) - 1) + 1
      : start
  return file.span(start, Math.max(start, end))
}
