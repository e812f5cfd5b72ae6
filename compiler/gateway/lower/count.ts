import type { Count } from "../../../runtime/plan/step-values.ts"
import type { BoundStatement } from "../bind/bound.ts"
import type { StatementPlace } from "./place.ts"
import type { StepContext } from "./step.ts"

/** The allowed values of an expression in place of a number. */
interface Wanted {
  readonly types: readonly string[]
  readonly words: string
}

const time: Wanted = { types: ["duration", "int", "dyn"], words: "a `duration`, or seconds as an `int`," }
const status: Wanted = { types: ["int", "dyn"], words: "an `int`" }

/** Seconds of the slots `time` or `seconds`: a literal or an expression. Undefined when both are empty, or invalid (reported). */
export function secondsOf(
  bound: BoundStatement,
  context: StepContext,
  place: StatementPlace = context.place,
): Count | undefined {
  const ms = bound.args.value<number>("time")
  return ms === undefined ? expressionOf(bound, "seconds", time, context, place) : ms / 1000
}

/** A status of the slots `status` or `found`. */
export function statusOf(bound: BoundStatement, context: StepContext): Count | undefined {
  return bound.args.value<number>("status") ?? expressionOf(bound, "found", status, context, context.place)
}

/** A number or boolean that an expression computes for each request. */
function expressionOf(
  { args }: BoundStatement,
  slot: string,
  { types, words }: Wanted,
  { expressions, report }: StepContext,
  place: StatementPlace,
): Count | undefined {
  const cel = args.cel(slot)
  const expression = cel === undefined ? undefined : expressions.lower(cel, place)
  if (cel === undefined || expression === undefined) return undefined
  if (types.includes(expression.type)) return { expression }
  report.add("SP5001", cel.span, `${words} is expected here, not \`${expression.type}\``)
  return undefined
}
