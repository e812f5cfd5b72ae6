import type { HistoryAnswer, KeptPlansAnswer, PlanAnswer, PlanRecord } from "../../../runtime/control/api.ts"
import { comparePlans } from "../../diff/compare-plans.ts"
import { changesJson, changesText } from "../../render/changes.ts"
import {
  CliError,
  type CommandLine,
  command,
  type ExitCode,
  exitCode,
  type OptionValues,
} from "../command.ts"
import type { Io } from "../io.ts"
import { formatOptions, readCount, readFormat } from "../options.ts"
import { jsonDocument, print } from "../print.ts"
import { connect, expectOk, type Remote } from "../remote.ts"
import { canariesText } from "../views/canary.ts"
import { planRecordText, utcText } from "../views/plan-record.ts"
import { table } from "../views/table.ts"

interface HistoryArgs {
  /** The plan to show; undefined: list the plans. */
  readonly show: number | undefined
  readonly limit: number
  /** List what the process keeps on disk instead. */
  readonly kept: boolean
  readonly format: "text" | "json"
}

const historyLine: CommandLine<HistoryArgs> = {
  operands: [
    [
      "[show]",
      "show one plan: who applied it and why, who made and signed it, who consented, and what it changed",
    ],
    ["[serial]", "serial of that plan"],
  ],
  options: [
    ["--limit <count>", "number of plans to show (default: 20)"],
    ["--kept", "list the plans that the process keeps on disk; needs no database"],
    ...formatOptions,
  ],
  examples: [
    ["sallyport history", "show serial, time, author and git commit of the last plans"],
    ["sallyport history show 41", "see who applied serial 41 and why, and what it changed"],
    ["sallyport history --kept", "see to which plans `rollback --without-database` can go back"],
    ["sallyport history --limit 3 --format json", "for a script"],
  ],
  parse: ([show, serial], options) => ({
    show: readShow(show, serial),
    kept: readKept(options, show),
    limit: options["limit"] === undefined ? 20 : readCount(String(options["limit"]), "--limit"),
    format: readFormat(options, ["text", "json"]),
  }),
}

function readShow(word: string | undefined, serial: string | undefined): number | undefined {
  if (word === undefined) return undefined
  if (word === "show" && serial !== undefined) return readCount(serial, "the serial")
  throw new CliError("history lists all plans, or shows one", "For example: sallyport history show 41")
}

function readKept({ kept, limit }: OptionValues, show: string | undefined): boolean {
  if (kept !== true) return false
  if (show === undefined && limit === undefined) return true
  throw new CliError("--kept lists all kept plans", "Omit `show` and --limit.")
}

export const history = command(historyLine, async (args, io) => {
  const remote = await connect(io)
  if (args.show !== undefined) return showPlan(io, remote, args.show, args.format)
  if (args.kept) {
    const { plans } = expectOk<KeptPlansAnswer>(await remote.request("GET", "/v1/kept-plans"))
    print(io, args.format, plans, (all) =>
      all.length === 0 ? "This process keeps no plan on disk.\n" : historyText(all),
    )
    return exitCode.ok
  }
  const { plans, canaries = [] } = expectOk<HistoryAnswer>(
    await remote.request("GET", `/v1/plans?limit=${args.limit}`),
  )
  print(io, args.format, plans, (all) => historyText(all) + canariesText(canaries))
  return exitCode.ok
})

/** Renders the changes of a plan again: those between it and the plan before. */
async function showPlan(io: Io, remote: Remote, serial: number, format: "text" | "json"): Promise<ExitCode> {
  const found = await planAt(remote, serial)
  if (found === undefined)
    throw new CliError(`there is no plan with serial ${serial}`, "`sallyport history` lists them.")
  const before = serial === 1 ? undefined : await planAt(remote, serial - 1)
  const { record, plan } = found
  const isKnown = serial === 1 || before !== undefined
  const changes = isKnown ? comparePlans(before?.plan.plan, plan.plan, plan.origins) : undefined
  if (format === "json") {
    const shown = changes === undefined ? null : JSON.parse(changesJson(changes))
    io.out(jsonDocument({ record, changes: shown }))
    return exitCode.ok
  }
  io.out(planRecordText(record))
  if (changes === undefined) io.out(`\nWhat it changed is unknown: serial ${serial - 1} was deleted.\n`)
  else {
    io.out(
      serial === 1
        ? "\nThe first plan: everything was new.\n\n"
        : `\nCompared with serial ${serial - 1}:\n\n`,
    )
    io.out(changesText(changes, { colour: io.colour.out }))
  }
  return exitCode.ok
}

async function planAt(remote: Remote, serial: number): Promise<PlanAnswer | undefined> {
  const answer = await remote.request("GET", `/v1/plans/${serial}`)
  return answer.status === 404 ? undefined : expectOk<PlanAnswer>(answer)
}

/** A digest is shown by its first 12 digits, without `sha256:`. */
function historyText(plans: readonly PlanRecord[]): string {
  if (plans.length === 0) return "No plan was applied yet.\n"
  return table(
    ["SERIAL", "APPLIED", "WHO", "DIGEST", "REASON", "COMMIT"],
    plans.map((plan) => [
      String(plan.serial),
      utcText(plan.at),
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
