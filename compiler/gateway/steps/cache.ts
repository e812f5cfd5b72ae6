import { type Bound, headSpan, mentions, statementOf, statementsOf } from "../bind/bound.ts"
import { secondsOf } from "../lower/count.ts"
import type { Place } from "../lower/place.ts"
import { idsOf, type Lowered, type LowerStep, type StepContext } from "../lower/step.ts"
import { textOrExpression } from "../lower/text-or-expression.ts"

/** `cache get|set|remove|value|lookup|store …` */
export const lowerCache: LowerStep = (bound, context) => {
  const [action] = bound.statement.args
  if (action?.kind === "word" && action.text === "lookup") return lowerLookup(bound, context)
  if (action?.kind === "word" && action.text === "store") return lowerStore(bound, context, context.place)
  const keyAt = bound.args.text("key")
  const key = keyAt === undefined ? undefined : context.texts.lower(keyAt, context.place)
  if (action?.kind !== "word" || key === undefined) return undefined
  const at = headSpan(bound.statement)
  const variable = bound.args.value<string>("variable") ?? ""
  const { steps } = context
  if (action.text === "remove") return steps.add({ kind: "cache-remove", key }, at)
  const seconds = secondsOf(bound, context)
  if (action.text === "value") {
    if (seconds === undefined) return undefined
    const inside = context.block(bound.block, context.place)
    const lowered = steps.add({ kind: "cache-value", key, variable, seconds, steps: idsOf(inside) }, at, {
      steps: inside,
    })
    return { ...lowered, declares: { [variable]: "dyn" } }
  }
  const hasValue = bound.args.cel("expression") !== undefined || bound.args.text("value") !== undefined
  const value = textOrExpression(bound, context)
  if (hasValue && value === undefined) return undefined
  if (action.text === "set")
    return value === undefined || seconds === undefined
      ? undefined
      : steps.add({ kind: "cache-set", key, value, seconds }, at)
  const otherwise = value === undefined ? {} : { default: value }
  const lowered = steps.add({ kind: "cache-get", key, variable, ...otherwise }, at)
  return { ...lowered, declares: { [variable]: "dyn" } }
}

/** `cache response TIME if (CEL) { … }`: what looks behind inbound, and what keeps before outbound, at the place `later`. */
export function lowerCacheResponse(
  bound: Bound,
  context: StepContext,
  later: Place,
): { readonly lookup: Lowered; readonly store: Lowered } | undefined {
  const lookup = lowerLookup(bound, context)
  const store = lowerStore(bound, context, later)
  return lookup === undefined || store === undefined ? undefined : { lookup, store }
}

function lowerLookup({ statement, block }: Bound, { texts, place, steps }: StepContext): Lowered | undefined {
  const keyAt = statementOf(block, "key")?.args.text("key")
  const key = keyAt === undefined ? undefined : texts.lower(keyAt, place)
  if (keyAt !== undefined && key === undefined) return undefined
  const vary = statementsOf(block, "vary")
  const byQuery = vary.find((each) => isWord(each.statement.args[0], "query"))
  const downstream = statementOf(block, "downstream")
  return steps.add(
    {
      kind: "cache-lookup",
      varyHeaders: vary.flatMap(({ args }) => args.values<string>("name")),
      varyQuery: byQuery === undefined ? null : [...byQuery.args.values<string>("parameter")],
      ...(key === undefined ? {} : { key }),
      authorized: mentions(block, "shared"),
      downstream: downstream?.args.value<"private" | "public">("who") ?? "none",
      mustRevalidate: downstream?.statement.args.some((each) => isWord(each, "must-revalidate")) ?? false,
      ...(mentions(block, "coalesce") ? { coalesce: true } : {}),
    },
    headSpan(statement),
  )
}

function lowerStore(bound: Bound, context: StepContext, place: Place): Lowered | undefined {
  const { statement, args } = bound
  const { expressions, steps } = context
  const seconds = secondsOf(bound, context, place)
  const test = args.cel("test")
  const expression = test === undefined ? undefined : expressions.lower(test, place, "bool")
  if (seconds === undefined || (test !== undefined && expression === undefined)) return undefined
  const condition = expression === undefined ? {} : { storeIf: { expression } }
  return steps.add({ kind: "cache-store", seconds, ...condition }, headSpan(statement))
}

function isWord(argument: Bound["statement"]["args"][number] | undefined, text: string): boolean {
  return argument?.kind === "word" && argument.text === text
}
