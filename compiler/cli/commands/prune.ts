import type { PruneAnswer } from "../../../runtime/control/api.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { formatOptions, readCount, readDuration, readFormat, textOf } from "../options.ts"
import { print } from "../print.ts"
import { withProgress } from "../progress.ts"
import { connect, expectOk, type Remote } from "../remote.ts"

type Counts = PruneAnswer["pruned"]

interface PruneArgs {
  readonly retention: {
    readonly changesSeconds?: number | undefined
    readonly plansKept?: number | undefined
    readonly deletedSeconds?: number | undefined
  }
  readonly dryRun: boolean
  readonly format: "text" | "json"
}

const pruneLine: CommandLine<PruneArgs> = {
  options: [
    [
      "--changes <age>",
      "delete changes of the stores' feeds that are older, e.g. 30d; readers that are behind get 410 (at least 1h)",
    ],
    ["--plans <count>", "keep this many of the newest plans, and those that a process serves"],
    [
      "--deleted <age>",
      "erase stores, with their tuples, and subscriptions that were deleted longer ago than this, e.g. 7d",
    ],
    ["--dry-run", "only count what would be deleted"],
    ...formatOptions,
  ],
  examples: [
    ["sallyport prune --changes 30d --plans 100 --deleted 7d --dry-run", "see what would be deleted"],
    ["sallyport prune --changes 30d --plans 100 --deleted 7d", "once a day, from a scheduled job"],
  ],
  parse(_, options) {
    const seconds = (name: "changes" | "deleted") => {
      const text = textOf(options, name)
      // Rounded up: nothing is deleted earlier than the user allowed.
      return text === undefined ? undefined : Math.ceil(readDuration(text, `--${name}`) / 1_000)
    }
    const plans = textOf(options, "plans")
    const retention = {
      changesSeconds: seconds("changes"),
      plansKept: plans === undefined ? undefined : readCount(plans, "--plans"),
      deletedSeconds: seconds("deleted"),
    }
    if (retention.changesSeconds !== undefined && retention.changesSeconds < 3_600)
      throw new CliError(
        "--changes is less than an hour",
        "Processes and clients that were paused read the changes that they missed: write 1h or more.",
      )
    // No default: what may be deleted is a decision about one's own data.
    if (Object.values(retention).every((each) => each === undefined))
      throw new CliError("prune needs to know what to keep", "Give --changes, --plans or --deleted.")
    const format = readFormat(options, ["text", "json"])
    return { retention, dryRun: options["dryRun"] === true, format }
  },
}

/** Deletes in portions over several requests, so that each transaction is short. */
export const prune = command(pruneLine, async ({ retention, dryRun, format }, io) => {
  const remote = await connect(io)
  const total = await withProgress(io, dryRun ? "counting" : "deleting", () =>
    pruneAll(remote, { ...retention, dryRun }),
  )
  print(io, format, { dryRun, deleted: total }, prunedText)
  return exitCode.ok
})

function prunedText({ dryRun, deleted }: { readonly dryRun: boolean; readonly deleted: Counts }): string {
  const counts = [
    [deleted.changes, "changes"],
    [deleted.tuples, "tuples of deleted stores"],
    [deleted.stores, "deleted stores"],
    [deleted.subscriptions, "deleted subscriptions"],
    [deleted.plans, "plans"],
  ] as const
  const shown = counts.filter(([count]) => count > 0)
  const text = shown.map(([count, what]) => `${count.toLocaleString("en-US")} ${what}`).join(", ")
  return `${dryRun ? "would delete" : "deleted"}: ${text === "" ? "nothing" : text}\n`
}

/** One call deletes a bounded number of rows, so that it ends soon and the next one can go to another process. */
async function pruneAll(remote: Remote, request: object): Promise<Counts> {
  const total = { changes: 0, tuples: 0, stores: 0, subscriptions: 0, plans: 0 }
  // The answer of each call says where the next one continues; its limits are the server's.
  let cursor: string | null = null
  do {
    const answer: PruneAnswer = expectOk(await remote.request("POST", "/v1/prune", { ...request, cursor }))
    for (const key of Object.keys(total) as (keyof Counts)[]) total[key] += answer.pruned[key]
    cursor = answer.next
  } while (cursor !== null)
  return total
}
