import { type Bound, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import type { Place } from "../lower/place.ts"
import type { Lowered, LowerStep, StepContext } from "../lower/step.ts"
import { checkKeys, counterName, lowerCounting, lowerKeys, lowerLimit } from "./limit.ts"

/** `limit` or `quota`. */
export function lowerCounted(
  { bound, scope }: { readonly bound: Bound; readonly scope: string },
  context: StepContext,
  late: Place,
): Lowered | undefined {
  return (bound.row.keyword === "quota" ? lowerQuota : lowerLimit)(bound, scope, context, late)
}

/** What a quota that is not of bytes uses up. Which calls count is not part of its counter: what was used must not begin anew with a condition. */
export function unitOf({ block }: Bound): "calls" | "tokens" {
  return statementsOf(block, "count").some(({ args }) => args.get("tokens") !== undefined)
    ? "tokens"
    : "calls"
}

/** Whether a statement is a limit or quota. */
export function isCounted({ row }: Bound): boolean {
  return row.keyword === "limit" || row.keyword === "quota"
}

/** `limit` or `quota` in `inbound`: counted where it stands, apart from other blocks. */
export const lowerCountedInOrder: LowerStep = (bound, context) => {
  const { place, places, scope } = context
  const route = { key: place.route, span: place.routeSpan }
  const { pathParameters, auth, variables, asked } = place
  const made = places.make(route, "outbound", pathParameters, auth, false, variables)
  const late = asked ? { ...made, asked, key: `${made.key}?` } : made
  return lowerCounted({ bound, scope }, context, late)
}

/** `quota N calls per DURATION by KEY else KEY`, `quota SIZE per DURATION by KEY`; `in total` instead of a duration. Counters are named like those of limits. */
function lowerQuota(bound: Bound, scope: string, context: StepContext, late: Place): Lowered | undefined {
  const { args } = bound
  const callsMax = args.value<number>("calls")
  const bytesMax = args.value<number>("bytes")
  const keys = lowerKeys(bound, context)
  const counting = lowerCounting(bound, context, late)
  if (bound.broken || keys === undefined || counting === undefined) return undefined
  if (!checkKeys(bound, keys, context)) return undefined
  const periodSeconds = (args.value<number>("period") ?? 0) / 1000
  const startsAt = statementOf(bound.block, "starts")?.args.value<string>("date")
  const what = bytesMax === undefined ? unitOf(bound) : "bytes"
  return context.steps.add(
    {
      kind: "quota",
      counter: `${counterName(scope, keys, periodSeconds)}, quota of ${what}`.slice(0, 512),
      ...(callsMax === undefined ? {} : { callsMax }),
      ...(bytesMax === undefined ? {} : { bytesMax }),
      periodSeconds,
      ...(startsAt === undefined ? {} : { startsAt: `${startsAt}T00:00:00Z` }),
      keys,
      ...counting,
    },
    headSpan(bound.statement),
  )
}
