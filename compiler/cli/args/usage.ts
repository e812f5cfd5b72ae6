import { CliError, type CommandLine, type OptionValues } from "../command.ts"
import { readFormat } from "./format.ts"
import { readMoment } from "./subscription.ts"

export interface UsageArgs {
  /** Query of the control API. */
  readonly query: Readonly<Record<string, string>>
  readonly format: "table" | "json" | "csv"
}

const fields = ["subscription", "user", "product", "api", "operation", "version", "status", "day"]

export const usageLine: CommandLine<UsageArgs> = {
  name: "usage",
  summary: "show who called what: calls, bytes, times, and what it costs where products have a price",
  options: [
    [
      "--by <fields>",
      `a line for each of these, with commas: ${fields.join(", ")}; subscription,user when not said`,
    ],
    ["--since <date>", "2026-01-31, a time with zone, or how long ago: 12h, 30d"],
    ["--until <date>", "the first moment that does not count"],
    ["--subscription <name>", "only this one"],
    ["--user <name>", "only this one: who the token of a call without subscription names (`sub`)"],
    ["--product <name>", "only this one"],
    ["--api <name>", "only this one"],
    ["--deprecated", "only versions the running plan calls deprecated: who still calls them?"],
    ["--format <format>", "table, json or csv"],
  ],
  examples: [
    ["sallyport usage --since 30d --by subscription,product", "the bill of the last 30 days"],
    ["sallyport usage --deprecated", "who still calls deprecated versions"],
    ["sallyport usage --by day,status --api orders --format csv", "for a spreadsheet"],
  ],
  parse(_, options) {
    const deprecated = options["deprecated"] === true
    const by = text(options, "by") ?? (deprecated ? "" : "subscription,user")
    const unknown = by.split(",").find((word) => word !== "" && !fields.includes(word))
    if (unknown !== undefined)
      throw new CliError(`usage cannot be told by ${unknown}`, `It can be told by ${fields.join(", ")}.`)
    const query = {
      by,
      since: pointInTime(options, "since"),
      until: pointInTime(options, "until"),
      subscription: text(options, "subscription"),
      user: text(options, "user"),
      product: text(options, "product"),
      api: text(options, "api"),
      deprecated: deprecated ? "true" : undefined,
    }
    if (query.since !== undefined && query.until !== undefined && query.since >= query.until)
      throw new CliError("--until is not after --since: nothing lies between", "Say a later --until.")
    const said = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value] as const] : []))
    return { query: Object.fromEntries(said), format: readFormat(options, ["table", "json", "csv"]) }
  },
}

const hoursOf: Readonly<Record<string, number>> = { h: 1, d: 24 }

function pointInTime(options: OptionValues, name: string): string | undefined {
  const given = text(options, name)
  if (given === undefined) return undefined
  const ago = /^(\d{1,6})([hd])$/.exec(given)
  if (ago === null) return readMoment(given, `--${name}`, ", or how long ago it was: 12h, 30d")
  return new Date(Date.now() - Number(ago[1]) * (hoursOf[ago[2] ?? ""] ?? 0) * 3_600_000).toISOString()
}

function text(options: OptionValues, name: string): string | undefined {
  const value = options[name]
  return typeof value === "string" ? value : undefined
}
