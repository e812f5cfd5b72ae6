import type { HistoryAnswer, PlanRecord } from "../../../runtime/control/api.ts"
import { type CommandLine, command, exitCode } from "../command.ts"
import { formatOptions, readCount, readFormat } from "../options.ts"
import { connect, expectOk } from "../remote.ts"
import { table } from "../views/table.ts"

interface HistoryArgs {
  readonly limit: number
  readonly format: "text" | "json"
}

const historyLine: CommandLine<HistoryArgs> = {
  options: [["--limit <count>", "number of plans to show (default: 20)"], ...formatOptions],
  examples: [
    ["sallyport history", "show serial, time, author and git commit of the last plans"],
    ["sallyport history --limit 3 --format json", "for a script"],
  ],
  parse: (_, options) => ({
    limit: options["limit"] === undefined ? 20 : readCount(String(options["limit"]), "--limit"),
    format: readFormat(options, ["text", "json"]),
  }),
}

export const history = command(historyLine, async (args, io) => {
  const remote = await connect(io)
  const { plans } = expectOk<HistoryAnswer>(await remote.request("GET", `/v1/plans?limit=${args.limit}`))
  io.out(args.format === "json" ? `${JSON.stringify(plans, null, 2)}\n` : historyText(plans))
  return exitCode.ok
})

/** A digest is shown by its first 12 digits, without `sha256:`. */
function historyText(plans: readonly PlanRecord[]): string {
  if (plans.length === 0) return "No plan was applied yet.\n"
  return table(
    ["SERIAL", "APPLIED", "WHO", "DIGEST", "REASON", "COMMIT"],
    plans.map((plan) => [
      String(plan.serial),
      // UTC, to the second: several operators in several time zones read it.
      plan.at.replace("T", " ").replace(/\.\d+Z$/, "Z"),
      plan.who,
      plan.digest.slice(7, 19),
      reasonOf(plan) ?? "-",
      commitOf(plan),
    ]),
  )
}

/** Records of older versions have the first line of the commit as their message. */
function reasonOf({ commit, message }: PlanRecord): string | null {
  // A commit with a blank contains its subject; then the message is not a reason but that subject.
  return commit === null || commit.includes(" ") ? message : null
}

function commitOf({ commit, message }: PlanRecord): string {
  if (commit === null) return "-"
  const [id = "", ...subject] = commit.split(" ")
  const words = commit.includes(" ") ? subject.join(" ") : (message ?? "")
  // `+` marks a working tree with changes that are not in the commit.
  return `${id.slice(0, 12)}${id.endsWith("+") && id.length > 12 ? "+" : ""} ${words}`.trim()
}
