import { sizeText } from "../../../runtime/plan/quantities.ts"
import type { Count } from "../../../runtime/plan/step-values.ts"
import { closes, type Finding, opens } from "../../analysis/finding.ts"
import { durationWords, limitKeyWords } from "../../analysis/words.ts"
import { type BoundStatement, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
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
import { checkKeys, counterName, limitRows, lowerCounting, lowerKeys } from "../lower/counting.ts"
import type { StatementPlace } from "../lower/place.ts"
import type { Lowered, StepContext } from "../lower/step.ts"
import { countText, fixedText, statement } from "../print.ts"
import { many, oneOf, type StatementRow, slot, word } from "../schema/row.ts"
import type { StepText } from "../step-text.ts"

const quotaEnd = [
  oneOf(
    // Ten years at most; a volume without an end is `in total`.
    [word("per"), slot("period", "duration", { min: 60_000, max: 315_360_000_000, wholeSeconds: true })],
    [word("in"), word("total")],
  ),
  word("by"),
  many(slot("key", "limit-key"), 8, "else"),
]

/** The statement, in products and in `inbound`. */
export const quota: StatementRow = {
  keyword: "quota",
  several: true,
  forms: [
    {
      args: [slot("calls", "count", { min: 1, max: 1_000_000_000_000 }), word("calls"), ...quotaEnd],
      block: "quota",
    },
    { args: [slot("bytes", "size", { min: 1, max: 2 ** 50 }), ...quotaEnd], block: "quota" },
  ],
  docs: "A volume of calls, or of bytes of bodies, in a fixed period or `in total`. All processes share it, and it survives restarts. When it is used up, callers get 403.",
  example: "quota 100000 calls per 30d by subscription",
}

/** Statements in its block. */
export const quotaRows: readonly StatementRow[] = [
  // Of the state of a limit, a quota reports only what remains.
  ...limitRows.filter(({ keyword }) => keyword === "count" || keyword === "remaining"),
  {
    keyword: "starts",
    forms: [{ args: [slot("date", "date")] }],
    byDefault: "with the subscription, else 1970-01-01",
    docs: "The day (UTC) on which the first period starts.",
    example: "starts 2026-01-01",
  },
]

/**
 * The unit of a quota that is not in bytes. The counter does not depend on the condition: the usage must not restart when the condition
 * changes.
 */
export function unitOf({ block }: BoundStatement): "calls" | "tokens" {
  return statementsOf(block, "count").some(({ args }) => args.get("tokens") !== undefined)
    ? "tokens"
    : "calls"
}

/**
 * `quota N calls per DURATION by KEY else KEY`, `quota SIZE per DURATION by KEY`; `in total` instead of a duration. Counters are named like
 * those of limits.
 */
export function lowerQuota(
  bound: BoundStatement,
  scope: string,
  context: StepContext,
  late: StatementPlace,
): Lowered | undefined {
  const { args } = bound
  const callsMax = args.value<number>("calls")
  const bytesMax = args.value<number>("bytes")
  const keys = lowerKeys(bound, context)
  const counting = lowerCounting(bound, context, late)
  if (bound.broken || keys === undefined || counting === undefined) return undefined
  if (!checkKeys(bound, keys, context)) return undefined
  // Zero stands for `in total`.
  const periodSeconds = (args.value<number>("period") ?? 0) / 1000
  const startsAt = statementOf(bound.block, "starts")?.args.value<string>("date")
  const what = bytesMax === undefined ? unitOf(bound) : "bytes"
  return context.steps.add(
    {
      kind: "quota",
      // The end is cut, not shortened by a digest: scope and keys are already short, and identify the counter.
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

/** Printing and comparison of a step that refuses calls when a quota is used up. */
export const quotaText: StepText<"quota"> = {
  print: (step, printing) => {
    const { callsMax, bytesMax, periodSeconds, startsAt, keys } = step
    // `quota` of APIM may limit both at once.
    if (callsMax !== undefined && bytesMax !== undefined) printing.lacks("a quota of calls and bytes in one")
    if (startsAt !== undefined && !/T00:00:00(?:\.000)?Z$/.test(startsAt))
      printing.lacks("a period that begins within a day")
    if (step.consumedHeader !== undefined || step.consumedVariable !== undefined)
      printing.lacks("a quota that reports what a call counted")
    const volume =
      bytesMax === undefined
        ? `${fixedText(callsMax, "a number of calls", printing)} calls`
        : sizeText(bytesMax)
    const period = periodSeconds === 0 ? "in total" : `per ${durationWords(periodSeconds * 1000)}`
    return statement(
      `quota ${volume} ${period} by ${limitKeyWords(keys)}`,
      countingLines(step, printing),
      startsAt !== undefined && `starts ${startsAt.slice(0, 10)}`,
    )
  },
  identities: ({ bytesMax, counter }) => {
    const volume = `quota ${bytesMax === undefined ? "calls" : "bytes"}`
    return [`${volume} ${scopeOfCounter(counter)}`, volume]
  },
  added: ({ callsMax, bytesMax, periodSeconds, keys }) => {
    const volume = callsMax === undefined ? sizeText(bytesMax ?? 0) : `${countText(callsMax)} calls`
    const period = periodSeconds === 0 ? "in total" : `per ${durationWords(periodSeconds * 1000)}`
    return closes(`each ${keysWords(keys)} may use ${volume} ${period}; requests beyond that get 403`)
  },
  removed: ({ keys }) => opens(`quotas are no longer counted by ${limitKeyWords(keys)}`),
  changed: {
    callsMax: (before, after) => volumeChange(before, after, (max) => `${countText(max)} calls`),
    bytesMax: (before, after) => volumeChange(before, after, sizeText),
    periodSeconds: (before, after) => {
      const words = `the period is ${quotaPeriod(after)} instead of ${quotaPeriod(before)}`
      // A shorter period gives the same volume more often.
      return after !== 0 && (before === 0 || after < before) ? opens(words) : closes(words)
    },
    // Amounts belong to a period, and its beginning is part of what identifies it.
    startsAt: () => opens("periods start at other times, and used amounts are reset"),
    keys: (before, after) =>
      opens(`each ${keysWords(after)} instead of each ${keysWords(before)} has its own quota`),
    counter: (before, after) =>
      scopeOfCounter(before) === scopeOfCounter(after)
        ? opens("used amounts are reset")
        : opens(
            `the quota counts requests of \`${scopeOfCounter(after)}\` instead of \`${scopeOfCounter(before)}\`, and used amounts are reset`,
          ),
    countIf: countedChange,
    increment: incrementChange,
    remainingHeader: headerChange,
    remainingVariable: otherVariable,
    consumedHeader: headerChange,
    consumedVariable: otherVariable,
  },
}

/** An absent maximum allows any number. */
function volumeChange<Max extends Count>(
  before: Max | undefined,
  after: Max | undefined,
  words: (max: Max) => string,
): Finding {
  const summary = `${after === undefined ? "any number" : words(after)} instead of ${before === undefined ? "any number" : words(before)} may be used`
  const more = after === undefined || (before !== undefined && grows(before, after))
  return more ? opens(summary) : closes(summary)
}

function quotaPeriod(seconds: number): string {
  return seconds === 0 ? "all time" : durationWords(seconds * 1000)
}
