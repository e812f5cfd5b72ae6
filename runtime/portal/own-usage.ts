import type { UsageAnswer } from "../control/api.ts"
import type { UsageDesk } from "../control/usage-desk.ts"
import type { Money, OwnUsageAnswer, UsageDay, UsageOfOperation } from "./api.ts"
import type { Published } from "./published.ts"

type UsageLine = UsageAnswer["lines"][number]

const dayMs = 86_400_000
const daysDefault = 30
const daysMax = 366
const operationsMax = 200

/** Days in UTC, both included. */
interface Days {
  readonly from: string
  readonly to: string
}

/** The range of a question, or why it cannot be answered. */
export function daysOf(
  asked: { readonly from?: string | undefined; readonly to?: string | undefined },
  now = Date.now(),
): Days | string {
  const to = asked.to ?? dayOf(now)
  const from = asked.from ?? dayOf(Date.parse(to) - (daysDefault - 1) * dayMs)
  if (from > to) return "`from` is after `to`"
  return (Date.parse(to) - Date.parse(from)) / dayMs >= daysMax
    ? `a range has at most ${daysMax} days`
    : { from, to }
}

/** Calls, failures and cost of one subscription. Operations that the portal does not publish are added up without their names. */
export async function ownUsage(
  desk: UsageDesk,
  subscription: string,
  { from, to }: Days,
  published: Published,
): Promise<OwnUsageAnswer> {
  const range = {
    since: `${from}T00:00:00Z`,
    until: new Date(Date.parse(to) + dayMs).toISOString(),
    subscription,
  }
  const [total, days, statuses, operations] = await Promise.all([
    desk.ask({ ...range, by: [] }),
    desk.ask({ ...range, by: ["day"] }),
    desk.ask({ ...range, by: ["day", "status"] }),
    desk.ask({ ...range, by: ["api", "version", "operation", "status"] }),
  ])
  const failedOf = (day: string) =>
    sum(statuses.lines.filter(({ key }) => key.day === day && isFailed(key.status)).map(({ calls }) => calls))
  const all = new Map(days.lines.map((line) => [line.key.day, line]))
  const shown: UsageDay[] = []
  for (let at = Date.parse(from); at <= Date.parse(to); at += dayMs) {
    const day = dayOf(at)
    shown.push({ day, ...countsOf(all.get(day), failedOf(day)) })
  }
  return {
    ...{ from, to, days: shown, operations: operationsOf(operations.lines, published) },
    total: countsOf(total.lines[0], sum(shown.map(({ failed }) => failed))),
  }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0)
}

/** `none`: the caller did not wait for the response. */
function isFailed(status: string | undefined): boolean {
  return status === "4xx" || status === "5xx" || status === "none"
}

const noMoney: readonly Money[] = []

function countsOf(line: UsageLine | undefined, failed: number): Omit<UsageDay, "day"> {
  const { calls = 0, billed = 0, bytesIn = 0, bytesOut = 0, p95 = null, amounts = noMoney } = line ?? {}
  return { calls, failed, billed, bytesIn, bytesOut, p95, cost: amounts }
}

function operationsOf(lines: readonly UsageLine[], published: Published): UsageOfOperation[] {
  const found = new Map<string, UsageOfOperation>()
  for (const { key, calls } of lines) {
    const version = key.version === undefined || key.version === "" ? null : key.version
    const isShown = key.api !== undefined && published.shows(key.api, version)
    const named = isShown
      ? { api: key.api ?? null, version, operation: key.operation ?? null }
      : { api: null, version: null, operation: null }
    const id = JSON.stringify(named)
    const known = found.get(id) ?? { ...named, calls: 0, failed: 0 }
    const failed = known.failed + (isFailed(key.status) ? calls : 0)
    found.set(id, { ...known, calls: known.calls + calls, failed })
  }
  return [...found.values()].sort((a, b) => b.calls - a.calls).slice(0, operationsMax)
}
