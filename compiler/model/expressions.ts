import type { IToken } from "chevrotain"
import type { Span } from "../core/source.ts"
import type { Name, Restriction, Rewrite } from "./ast.ts"
import type { ModelMistakes } from "./mistakes.ts"
import { hasNameForm, hasSimpleNameForm } from "./names.ts"
import type { RawExpression, RawOperand, RawRestriction } from "./parser.ts"
import { butNot, endOf, or } from "./tokens.ts"

export function spanOf(token: IToken, mistakes: ModelMistakes): Span {
  return mistakes.file.span(token.startOffset, endOf(token))
}

/** The name of a type or relation. Checked here because the lexer accepts more words than the language. */
export function readName(token: IToken, mistakes: ModelMistakes): Name {
  const span = spanOf(token, mistakes)
  if (!hasNameForm(token.image)) {
    mistakes.add("SP4016", span, `\`${token.image}\` is not a valid name`)
  }
  return { text: token.image, span }
}

/** A name of a condition or parameter. */
export function readSimpleName(token: IToken, mistakes: ModelMistakes): Name {
  const span = spanOf(token, mistakes)
  if (!hasSimpleNameForm(token.image)) {
    const help = "Use letters, digits, `_` and `-`."
    mistakes.add("SP4016", span, `\`${token.image}\` is not a valid name for a condition or parameter`, {
      help,
    })
  }
  return { text: token.image, span }
}

/** Builds the tree of a relation. Returns undefined when a part was rejected and reported. */
export function buildRewrite(raw: RawExpression, mistakes: ModelMistakes): Rewrite | undefined {
  return buildExpression(raw, { first: true, grouped: false }, mistakes)
}

/** Position of an expression: whether it may begin with a list, and whether parentheses surround it. */
interface Position {
  readonly first: boolean
  readonly grouped: boolean
}

/** An expression. Undefined if a part was not understood; all parts are checked before that. */
function buildExpression(
  raw: RawExpression,
  position: Position,
  mistakes: ModelMistakes,
): Rewrite | undefined {
  const operands = raw.operands.map((operand, at) =>
    buildOperand(operand, position.first && at === 0, mistakes),
  )
  raw.operators.forEach((operator, at) => {
    checkSpacing(raw.operands[at] as RawOperand, operator, raw.operands[at + 1] as RawOperand, mistakes)
  })
  if (!mayStandTogether(raw, position, mistakes)) return undefined
  const known = operands.filter((each) => each !== undefined)
  const [base, subtract] = known
  if (known.length < operands.length || base === undefined) return undefined
  const [operator] = raw.operators
  if (operator === undefined) return base
  const span = mistakes.file.span(base.span.start, (known.at(-1) as Rewrite).span.end)
  if (operator.tokenType === butNot) return { kind: "exclusion", base, subtract: subtract as Rewrite, span }
  return { kind: operator.tokenType === or ? "union" : "intersection", operands: known, span }
}

/** Operators of different kinds, and more than one `but not`, may not be mixed on one level. */
function mayStandTogether(raw: RawExpression, { grouped }: Position, mistakes: ModelMistakes): boolean {
  const [first] = raw.operators
  const at = raw.operators.findIndex(
    (each, index) => index > 0 && (each.tokenType !== first?.tokenType || each.tokenType === butNot),
  )
  const operator = raw.operators[at]
  if (first === undefined || operator === undefined) return true
  const { file } = mistakes
  const before = raw.operands[at] as RawOperand
  // Outside parentheses, the expression is complete before the space. Inside parentheses, a space may follow it.
  const start = grouped ? operator.startOffset : endOfOperand(before)
  const span = file.span(start, endOfOperand(raw.operands.at(-1) as RawOperand))
  const chain = first.tokenType === butNot && operator.tokenType === butNot
  const detail = chain
    ? "`but not` follows `but not` without parentheses"
    : `\`${word(first)}\` and \`${word(operator)}\` are mixed without parentheses`
  const grouping = file.text.slice(startOfOperand(raw.operands[0] as RawOperand), endOfOperand(before))
  const help =
    grouping.length > 80
      ? "Add parentheses to group the operands."
      : `Add parentheses to group the operands, e.g. \`(${grouping}) ${word(operator)} …\`.`
  mistakes.add("SP4014", span, detail, { help })
  return false
}

function word(operator: IToken): string {
  return operator.tokenType === butNot ? "but not" : operator.image
}

/** An operand. A list of types can only be the first operand of a relation. */
function buildOperand(raw: RawOperand, first: boolean, mistakes: ModelMistakes): Rewrite | undefined {
  const span = mistakes.file.span(startOfOperand(raw), endOfOperand(raw))
  if (raw.kind === "list") {
    const restrictions = raw.restrictions.map((each) => buildRestriction(each, mistakes))
    if (first) return { kind: "direct", restrictions, span }
    mistakes.add("SP4015", span, "a list of types must be the first operand of a relation")
    return undefined
  }
  if (raw.kind === "group") return buildExpression(raw.inner, { first, grouped: true }, mistakes)
  const relation = readName(raw.relation, mistakes)
  if (raw.tupleset === undefined) return { kind: "computed", relation, span }
  return { kind: "from", relation, tupleset: readName(raw.tupleset, mistakes), span }
}

/** A type that a list allows, e.g. `group#member with on_call`. */
function buildRestriction(raw: RawRestriction, mistakes: ModelMistakes): Restriction {
  const { file } = mistakes
  const start = raw.type.startOffset
  const subjectEnd = raw.relation ?? raw.star ?? raw.type
  const subject = file.span(start, endOf(subjectEnd))
  if (
    raw.sign !== undefined &&
    (endOf(raw.type) < raw.sign.startOffset || endOf(raw.sign) < subjectEnd.startOffset)
  ) {
    mistakes.add("SP4017", subject, `there is a space next to \`${raw.sign.image}\``, {
      help: "Remove the space.",
    })
  }
  const end = raw.condition === undefined ? endOf(subjectEnd) : endOf(raw.condition)
  const line = /[\r\n]/.test(file.text.slice(start, end))
  if (line)
    mistakes.add("SP4017", subject, "the expression continues on the next line", {
      help: "Break lines only after `,`, `[` and before `]`.",
    })
  return {
    type: readName(raw.type, mistakes),
    relation: raw.relation === undefined ? undefined : readName(raw.relation, mistakes),
    wildcard: raw.star !== undefined,
    condition: raw.condition === undefined ? undefined : readSimpleName(raw.condition, mistakes),
    subject,
    span: file.span(start, end),
  }
}

/** The language demands spaces around operators. */
function checkSpacing(
  before: RawOperand,
  operator: IToken,
  after: RawOperand,
  mistakes: ModelMistakes,
): void {
  const span = spanOf(operator, mistakes)
  if (endOfOperand(before) === operator.startOffset || endOf(operator) === startOfOperand(after)) {
    const help = "Put a space before and after the operator."
    mistakes.add("SP4017", span, `\`${word(operator)}\` needs spaces around it`, { help })
  }
  if (operator.tokenType === butNot && operator.image !== "but not") {
    mistakes.add("SP4017", span, "`but not` needs exactly one space", { help: "Write `but not`." })
  }
}

function startOfOperand(raw: RawOperand): number {
  return (raw.kind === "name" ? raw.relation : raw.open).startOffset
}

function endOfOperand(raw: RawOperand): number {
  return endOf(raw.kind === "name" ? (raw.tupleset ?? raw.relation) : raw.close)
}
