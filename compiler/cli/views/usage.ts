import type { UsageAnswer, UsageLine } from "../../../runtime/control/usage-api.ts"
import { table } from "./table.ts"

/** A table for people. */
export function usageText({ by, lines, cut }: UsageAnswer): string {
  if (lines.length === 0) return "Nothing was called.\n"
  const priced = lines.some(({ amounts }) => amounts.length > 0)
  const head = [...by.map((field) => field.toUpperCase()), "CALLS", "IN", "OUT", "P50", "P95", "P99"]
  const rows = lines.map((line) => [
    ...by.map((field) => line.key[field] || "-"),
    String(line.calls),
    bytes(line.bytesIn),
    bytes(line.bytesOut),
    time(line.p50),
    time(line.p95),
    time(line.p99),
    ...(priced ? [String(line.billed), amounts(line)] : []),
  ])
  const more = cut ? "There are more: narrow it, e.g. by --since, --product or --api.\n" : ""
  return `${table(priced ? [...head, "BILLED", "AMOUNT"] : head, rows)}${more}`
}

/** RFC 4180, with numbers as they are. */
export function usageCsv({ by, lines }: UsageAnswer): string {
  const head = [...by, "calls", "billed", "bytes_in", "bytes_out", "p50_ms", "p95_ms", "p99_ms", "amount"]
  const rows = lines.map((line) => [
    ...by.map((field) => line.key[field] ?? ""),
    ...[line.calls, line.billed, line.bytesIn, line.bytesOut, line.p50, line.p95, line.p99].map((value) =>
      value === null ? "" : String(value),
    ),
    amounts(line),
  ])
  return [head, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("")
}

function amounts({ amounts: all }: UsageLine): string {
  return all.map(({ amount, currency }) => `${amount} ${currency}`).join(" + ")
}

/** A spreadsheet takes what begins so for a formula. */
function field(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function time(ms: number | null): string {
  if (ms === null) return "-"
  return ms < 1_000 ? `${ms} ms` : `${Number((ms / 1_000).toPrecision(3))} s`
}

function bytes(count: number): string {
  const at = Math.min(4, Math.floor(Math.log2(Math.max(1, count)) / 10))
  return at === 0
    ? `${count} B`
    : `${Number((count / 2 ** (10 * at)).toPrecision(3))} ${["", "K", "M", "G", "T"][at]}B`
}
