import { canonicalJson } from "../../../runtime/plan/canonical.ts"
import { closes, type Finding, neutral, opens } from "../../analysis/finding.ts"
import { limitKeyWords } from "../../analysis/words.ts"
import { type BoundStatement, headSpan, mentions, statementOf } from "../bind/bound.ts"
import {
  countedChange,
  countingLines,
  grows,
  headerChange,
  incrementChange,
  keysWords,
  otherVariable,
  scopeOfCounter,
} from "../counting-text.ts"
import {
  checkKeys,
  countedWords,
  counterName,
  keysOf,
  lowerCounting,
  lowerKeys,
  short,
  variablesOf,
} from "../lower/counting.ts"
import type { StatementPlace } from "../lower/place.ts"
import type { Lowered, StepContext } from "../lower/step.ts"
import { countText, fixedText, fixedTime, statement, timeText } from "../print.ts"
import { many, type StatementRow, slot, word } from "../schema/row.ts"
import type { Fields, StepText } from "../step-text.ts"

/** The statement, in scopes and in `inbound`. */
export const limit: StatementRow = {
  keyword: "limit",
  several: true,
  forms: [
    {
      args: [
        slot("calls", "count", { min: 1, max: 1_000_000_000 }),
        word("per"),
        slot("period", "duration", { min: 1000, max: 31_536_000_000, wholeSeconds: true }),
        word("by"),
        many(slot("key", "limit-key"), 8, "else"),
      ],
      block: "limit",
    },
  ],
  docs: "A rate limit: at most N calls in any window of this length, per subscription, address, claim or string. The first key that the caller has counts. More calls get 429.",
  example: "limit 100 per 1m by subscription else ip",
}

/** Whether the limit counts by address alone, so that it can run before tokens are verified. */
export function isAnonymous(bound: BoundStatement): boolean {
  // The first key decides: with `subscription else ip` the caller must be known first.
  return keysOf(bound)[0]?.by === "ip"
}

/**
 * `limit N per DURATION by KEY else KEY`. The counter's name consists of its scope, keys and period. So counts continue when a new plan
 * changes the number, and all routes of the scope share them.
 */
export function lowerLimit(
  bound: BoundStatement,
  scope: string,
  context: StepContext,
  late: StatementPlace,
): Lowered | undefined {
  const callsMax = bound.args.value<number>("calls")
  const periodMs = bound.args.value<number>("period")
  const keys = lowerKeys(bound, context)
  const counting = lowerCounting(bound, context, late)
  if (bound.broken || callsMax === undefined || periodMs === undefined) return undefined
  if (keys === undefined || counting === undefined) return undefined
  // Every way of `auth` must give the caller one of the keys; else some callers would not be counted.
  if (!checkKeys(bound, keys, context)) return undefined
  const periodSeconds = periodMs / 1000
  const counted = countedWords(bound)
  // Limits that count different things must not share a counter. The number is not in the name: counts go through a change of it.
  const counter = counterName(scope, keys, periodSeconds) + (counted === "" ? "" : `, ${short(counted, 120)}`)
  const shared = sharedOf(bound, context)
  const lowered = context.steps.add(
    { kind: "rate-limit", counter, callsMax, periodSeconds, keys, ...counting, ...shared },
    headSpan(bound.statement),
  )
  return { ...lowered, declares: variablesOf(counting) }
}

/** Without `limits { shared … }` there is nothing to share counters by, so the statement would promise what the plan cannot do. */
function sharedOf(
  bound: BoundStatement,
  { program, report }: StepContext,
): { readonly sharedRequired?: true } {
  const shared = statementOf(bound.block, "shared")
  if (shared === undefined) return {}
  const limits = statementOf(program.gateway?.block, "limits")?.block
  if (!mentions(limits, "shared"))
    report.add("SP2017", headSpan(shared.statement), "the gateway shares no counters", {
      help: "Add `limits { shared redis SECRET }` to `gateway`, or remove this.",
    })
  return { sharedRequired: true }
}

/** Printing and comparison of a step that refuses calls above a rate. */
export const rateLimit: StepText<"rate-limit"> = {
  print: (step, printing) => {
    const calls = fixedText(step.callsMax, "a number of calls", printing)
    const period = fixedTime(step.periodSeconds, "a time", printing)
    return statement(`limit ${calls} per ${period} by ${limitKeyWords(step.keys)}`, [
      ...countingLines(step, printing),
      ...(step.sharedRequired === true ? ["shared required"] : []),
    ])
  },
  identities: ({ counter, keys, periodSeconds }) => {
    const scope = scopeOfCounter(counter)
    // From the most specific to the least: a limit with another number, then with other keys, is still the same statement.
    const by = canonicalJson(keys)
    return [
      `limit ${scope} ${by} ${periodSeconds}`,
      `limit ${scope} ${by}`,
      `limit ${scope}`,
      `limit ${by}`,
      "limit",
    ]
  },
  added: ({ callsMax, periodSeconds, keys }) =>
    closes(
      `calls beyond ${countText(callsMax)} in ${timeText(periodSeconds)} by ${limitKeyWords(keys)} get 429`,
    ),
  removed: ({ keys }) => opens(`calls are no longer limited by ${limitKeyWords(keys)}`),
  changed: {
    callsMax: (before, after) => {
      const words = `${countText(after)} instead of ${countText(before)} calls are let through`
      return grows(before, after) ? opens(words) : closes(words)
    },
    periodSeconds: (before, after) => {
      const words = `calls are counted over ${timeText(after)} instead of ${timeText(before)}`
      return grows(after, before) ? opens(words) : closes(words)
    },
    keys: (before, after) =>
      // With other keys, callers who shared a limit may have one each, or the other way round.
      opens(`each ${keysWords(after)} instead of each ${keysWords(before)} has its own limit`),
    counter: (before, after, items) => counterChange(before, after, items),
    countIf: countedChange,
    increment: incrementChange,
    sharedRequired: (_, after) =>
      after === true
        ? closes("calls get 503 while the shared counters are unavailable")
        : opens("each process counts on its own while the shared counters are unavailable"),
    retryAfterHeader: headerChange,
    retryAfterVariable: otherVariable,
    remainingHeader: headerChange,
    remainingVariable: otherVariable,
    totalHeader: headerChange,
    totalVariable: otherVariable,
    consumedHeader: headerChange,
    consumedVariable: otherVariable,
  },
}

/** A counter's name consists of its block, keys and period. */
function counterChange(
  before: string,
  after: string,
  items: { readonly before: Fields<"rate-limit">; readonly after: Fields<"rate-limit"> },
): Finding {
  const [old, next] = [scopeOfCounter(before), scopeOfCounter(after)]
  // The name differs only by period or condition, which are compared on their own.
  if (old === next) return neutral("the counters start at zero")
  const words = `calls are counted for \`${next}\` instead of \`${old}\``
  const sameNumber = items.before.callsMax === items.after.callsMax
  if (next.startsWith(`${old} `) || (old === "gateway" && next !== "gateway"))
    return opens(`${words}: each such block has its own counter`)
  if (old.startsWith(`${next} `) || (next === "gateway" && sameNumber))
    return closes(`${words}: they share one counter`)
  return neutral(`${words}, and the counters start at zero`)
}
