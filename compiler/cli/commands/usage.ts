import type { UsageAnswer, UsageLine } from "../../../runtime/control/api.ts"
import { CliError, type CommandLine, command, exitCode, type OptionValues } from "../command.ts"
import { jsonOption, readDuration, readFormat, readMoment, textOf } from "../options.ts"
import { jsonDocument } from "../print.ts"
import { connect, expectOk } from "../remote.ts"
import { table } from "../views/table.ts"

interface UsageArgs {
  /** Query of the control API. */
  readonly query: Readonly<Record<string, string>>
  readonly format: "table" | "json" | "csv"
}

const fields = ["subscription", "user", "product", "api", "operation", "version", "status", "day"]

const usageLine: CommandLine<UsageArgs> = {
  options: [
    [
      "--by <fields>",
      `fields to group by, separated by commas: ${fields.join(", ")} (default: subscription,user)`,
      "joined",
    ],
    ["--since <date>", "start: 2026-01-31, 2026-01-31T12:00:00Z, or how long ago: 12h, 30d"],
    ["--until <date>", "end, not included; written like --since"],
    ["--subscription <name>", "only calls with this subscription"],
    ["--user <name>", "only calls with a token of this user (claim `sub`) and without a subscription"],
    ["--product <name>", "only calls of this product"],
    ["--api <name>", "only calls of this API"],
    ["--deprecated", "only calls of versions that the running plan marks as deprecated"],
    ["--format <format>", "table, json or csv (default: table)"],
    jsonOption,
  ],
  examples: [
    ["sallyport usage --since 30d --by subscription,product", "calls and prices of the last 30 days"],
    ["sallyport usage --deprecated", "callers of deprecated versions"],
    ["sallyport usage --by day,status --api orders --format csv", "for a spreadsheet"],
  ],
  parse(_, options) {
    const deprecated = options["deprecated"] === true
    // Deprecated calls are grouped by the server: it adds operation and version, which tell who must change what.
    const by = textOf(options, "by") ?? (deprecated ? "" : "subscription,user")
    const unknown = by.split(",").find((word) => word !== "" && !fields.includes(word))
    if (unknown !== undefined)
      throw new CliError(
        `usage cannot be grouped by \`${unknown}\``,
        `Use one or more of ${fields.join(", ")}.`,
      )
    const query = {
      by,
      since: pointInTime(options, "since"),
      until: pointInTime(options, "until"),
      subscription: textOf(options, "subscription"),
      user: textOf(options, "user"),
      product: textOf(options, "product"),
      api: textOf(options, "api"),
      deprecated: deprecated ? "true" : undefined,
    }
    // Both are ISO texts of one form, so comparing the texts compares the times.
    if (query.since !== undefined && query.until !== undefined && query.since >= query.until)
      throw new CliError("--until is not after --since", "Give a later --until.")
    // Empty values are left out; the control API takes a field that is present as a filter.
    const said = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value] as const] : []))
    return { query: Object.fromEntries(said), format: readFormat(options, ["table", "json", "csv"]) }
  },
}

/** A date, or a duration before now: reports are usually about the last days. */
function pointInTime(options: OptionValues, name: string): string | undefined {
  const given = textOf(options, name)
  if (given === undefined) return undefined
  if (!/^\d+[hd]$/.test(given)) return readMoment(given, `--${name}`, ", or how long ago: 12h, 30d")
  return new Date(Date.now() - readDuration(given, `--${name}`)).toISOString()
}

/** The control API computes sums and prices; this command only prints them. */
export const usage = command(usageLine, async ({ query, format }, io) => {
  const remote = await connect(io)
  const answer = expectOk<UsageAnswer>(
    await remote.request("GET", `/v1/usage?${new URLSearchParams(query).toString()}`),
  )
  if (format === "json") io.out(jsonDocument(answer))
  else io.out(format === "csv" ? usageCsv(answer) : usageText(answer))
  return exitCode.ok
})

/** A table for people. */
function usageText({ by, lines, cut }: UsageAnswer): string {
  if (lines.length === 0) return "No calls were counted.\n"
  // Columns about money only where a product has a price.
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
  const more = cut ? "There are more lines. Narrow the list with --since, --product or --api.\n" : ""
  return `${table(priced ? [...head, "BILLED", "AMOUNT"] : head, rows)}${more}`
}

/** CSV (RFC 4180), with unformatted numbers. */
function usageCsv({ by, lines }: UsageAnswer): string {
  const head = [...by, "calls", "billed", "bytes_in", "bytes_out", "p50_ms", "p95_ms", "p99_ms", "amount"]
  const rows = lines.map((line) => [
    ...by.map((field) => line.key[field] ?? ""),
    ...[line.calls, line.billed, line.bytesIn, line.bytesOut, line.p50, line.p95, line.p99].map((value) =>
      value === null ? "" : String(value),
    ),
    amounts(line),
  ])
  // CRLF and quotes as RFC 4180, sections 2.1 and 2.6: Excel reads nothing else everywhere.
  return [head, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("")
}

/** Prices of several products may have different currencies, which cannot be added. */
function amounts({ amounts: all }: UsageLine): string {
  return all.map(({ amount, currency }) => `${amount} ${currency}`).join(" + ")
}

/** A spreadsheet would read a value with such a beginning as a formula. */
function field(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function time(ms: number | null): string {
  if (ms === null) return "-"
  return ms < 1_000 ? `${ms} ms` : `${Number((ms / 1_000).toPrecision(3))} s`
}

/** Powers of 1024, as sizes in gateway.conf. */
function bytes(count: number): string {
  const at = Math.min(4, Math.floor(Math.log2(Math.max(1, count)) / 10))
  return at === 0
    ? `${count} B`
    : `${Number((count / 2 ** (10 * at)).toPrecision(3))} ${["", "K", "M", "G", "T"][at]}B`
}
