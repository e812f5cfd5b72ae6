import type { Text } from "../../../runtime/plan/text.ts"
import type { BoundStatement } from "../bind/bound.ts"
import type { StepContext } from "./step.ts"

type Value = Text | { readonly expression: NonNullable<ReturnType<StepContext["expressions"]["lower"]>> }

/** The text or expression of a statement that takes either. */
export function textOrExpression(
  bound: BoundStatement,
  { texts, expressions, place }: StepContext,
): Value | undefined {
  const cel = bound.args.cel("expression")
  if (cel !== undefined) {
    const expression = expressions.lower(cel, place)
    return expression === undefined ? undefined : { expression }
  }
  const argument = bound.args.text("value")
  return argument === undefined ? undefined : texts.lower(argument, place)
}

/** The text of a slot; undefined when the slot is empty, or its text is invalid (reported). */
export function textAt(
  bound: BoundStatement | undefined,
  slot: string,
  { texts, place }: StepContext,
): Text | undefined {
  const argument = bound?.args.text(slot)
  return argument === undefined ? undefined : texts.lower(argument, place)
}
