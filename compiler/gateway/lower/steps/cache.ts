import { type Bound, headSpan, mentions, statementOf, statementsOf } from "../../bind/bound.ts"
import { idsOf, type Lowered, type LowerStep, type StepContext } from "../step.ts"
import { textOrExpression } from "./flow.ts"

/** `cache get|set|remove|value …` */
export const lowerCache: LowerStep = (bound, context) => {
  const [action] = bound.statement.args
  const keyAt = bound.args.text("key")
  const key = keyAt === undefined ? undefined : context.texts.lower(keyAt, context.place)
  if (action?.kind !== "word" || key === undefined) return undefined
  const at = headSpan(bound.statement)
  const variable = bound.args.value<string>("variable") ?? ""
  const seconds = (bound.args.value<number>("time") ?? 0) / 1000
  const { steps } = context
  if (action.text === "remove") return steps.add({ kind: "cache-remove", key }, at)
  if (action.text === "value") {
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
    return value === undefined ? undefined : steps.add({ kind: "cache-set", key, value, seconds }, at)
  const otherwise = value === undefined ? {} : { default: value }
  const lowered = steps.add({ kind: "cache-get", key, variable, ...otherwise }, at)
  return { ...lowered, declares: { [variable]: "dyn" } }
}

/** `cache response TIME { … }`: what looks behind inbound, and what keeps before outbound. */
export function lowerCacheResponse(
  bound: Bound,
  context: StepContext,
): { readonly lookup: Lowered; readonly store: Lowered } | undefined {
  const { texts, place, steps } = context
  const { block } = bound
  const time = bound.args.value<number>("time")
  const keyAt = statementOf(block, "key")?.args.text("key")
  const key = keyAt === undefined ? undefined : texts.lower(keyAt, place)
  if (time === undefined || (keyAt !== undefined && key === undefined)) return undefined
  const vary = statementsOf(block, "vary")
  const byQuery = vary.find(({ statement }) => isWord(statement.args[0], "query"))
  const downstream = statementOf(block, "downstream")
  const at = headSpan(bound.statement)
  const lookup = steps.add(
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
    at,
  )
  return { lookup, store: steps.add({ kind: "cache-store", seconds: time / 1000 }, at) }
}

function isWord(argument: Bound["statement"]["args"][number] | undefined, text: string): boolean {
  return argument?.kind === "word" && argument.text === text
}
