import { setTimeout as sleep } from "node:timers/promises"
import { tupleWords } from "../../../runtime/check/explain-text.ts"
import type { TupleKey } from "../../../runtime/check/ports.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { NoAnswer } from "../exchange.ts"
import type { Io } from "../io.ts"
import { jsonOption, readFormat, readStore, storeOption, textOf } from "../options.ts"
import { connect, expectOk, type Remote } from "../remote.ts"
import { storePath } from "../store.ts"

/** Shorter than proxies wait for a response. */
const wait = "20s"
const againMs = 2_000

interface WatchArgs {
  readonly store: string | undefined
  readonly after: string
  readonly type: string | undefined
  readonly format: "text" | "json"
}

const watchLine: CommandLine<WatchArgs> = {
  operands: [],
  options: [
    storeOption,
    ["--after <token>", "continue after the token of an earlier line of --json (default: now)"],
    ["--type <type>", "only changes of objects of this type"],
    [
      "--format <format>",
      "text, or json: JSON lines, with the token to continue after each batch (default: text)",
    ],
    jsonOption,
  ],
  examples: [
    ["sallyport watch", "print each tuple that is written or deleted, until Ctrl-C"],
    ["sallyport watch --json --after TOKEN", "continue where an earlier run ended"],
  ],
  parse: (_, options) => ({
    store: readStore(options),
    after: textOf(options, "after") ?? "now",
    type: textOf(options, "type"),
    format: readFormat(options, ["text", "json"]),
  }),
}

interface Change {
  readonly tuple_key: Omit<TupleKey, "condition"> & { readonly condition: TupleKey["condition"] | null }
  readonly operation: "TUPLE_OPERATION_WRITE" | "TUPLE_OPERATION_DELETE"
  readonly timestamp: string
}

interface Batch {
  readonly changes: readonly Change[]
  readonly continuation_token: string
}

/** Prints changes until the process is stopped. After a lost connection it continues without missing or repeating a change. */
export const watch = command(watchLine, async (args, io) => {
  const remote = await connect(io)
  const path = `${await storePath(remote, args.store)}/watch`
  const stopped = io.untilStopped().then(() => undefined)
  let after = args.after
  let isFirst = true
  for (;;) {
    // The first answer comes at once: it shows that the token and the store are right.
    const query = new URLSearchParams({ after, wait: isFirst ? "0s" : wait })
    if (args.type !== undefined) query.set("type", args.type)
    const asked = isFirst ? demand(remote, `${path}?${query}`) : again(remote, `${path}?${query}`, io)
    // When the command is stopped, nobody takes the answer any more.
    asked.catch(() => undefined)
    // The first answer is awaited alone: an error of it ends the command with its message.
    const batch = await (isFirst ? asked : Promise.race([asked, stopped]))
    if (batch === undefined) return exitCode.ok
    const isJson = args.format === "json"
    for (const change of batch.changes) io.out(isJson ? jsonLine(change) : textLine(change))
    // Lines of JSON always end with a token, so that a consumer knows where to continue even before the first change.
    if (isJson && (isFirst || batch.changes.length > 0))
      io.out(`${JSON.stringify({ token: batch.continuation_token })}\n`)
    after = batch.continuation_token
    isFirst = false
  }
})

async function demand(remote: Remote, path: string): Promise<Batch> {
  return expectOk<Batch>(await remote.request("GET", path))
}

/** A process that is restarted, or its database, comes back: asks until there is an answer. */
async function again(remote: Remote, path: string, io: Io): Promise<Batch> {
  for (let told = false; ; ) {
    const answer = await remote.request("GET", path).catch((error: unknown) => {
      if (error instanceof NoAnswer) return error
      throw error
    })
    // 4xx never gets better by waiting: the store was deleted, or the token is too old.
    if (!(answer instanceof CliError) && answer.status < 500) return expectOk<Batch>(answer)
    if (!told)
      io.err(
        `${answer instanceof CliError ? answer.message : `status ${answer.status}`}; trying again every 2 s\n`,
      )
    // Once for each outage, not once for each attempt.
    told = true
    await sleep(againMs)
  }
}

function textLine({ tuple_key: key, operation, timestamp }: Change): string {
  return `${timestamp}  ${operation === "TUPLE_OPERATION_WRITE" ? "written" : "deleted"}  ${tupleWords({ ...key, condition: key.condition ?? undefined })}\n`
}

function jsonLine(change: Change): string {
  return `${JSON.stringify(change)}\n`
}
