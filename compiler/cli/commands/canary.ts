import type { CanaryAnswer, CanaryChanged, CanaryRecord, PlanAnswer } from "../../../runtime/control/api.ts"
import { authorOf } from "../author.ts"
import { CliError, type Command, type CommandLine, command, exitCode } from "../command.ts"
import { confirm } from "../confirm.ts"
import { readWait, waitForFleet, waitOptions } from "../fleet.ts"
import type { Io } from "../io.ts"
import { formatOptions, messageOption, readFormat, textOf } from "../options.ts"
import { print } from "../print.ts"
import { connect, expectOk, type Remote } from "../remote.ts"
import { canaryAnswerText } from "../views/canary.ts"

interface StatusArgs {
  readonly format: "text" | "json"
}

const statusLine: CommandLine<StatusArgs> = {
  options: formatOptions,
  examples: [["sallyport canary status", "compare the old and the new plan by errors, denials and latency"]],
  parse: (_, options) => ({ format: readFormat(options, ["text", "json"]) }),
}

export const canaryStatus = command(statusLine, async ({ format }, io) => {
  print(io, format, await answerOf(await connect(io)), canaryAnswerText)
  return exitCode.ok
})

interface EndArgs {
  readonly yes: boolean
  readonly reason: string | undefined
  /** Milliseconds, see `readWait`. */
  readonly waitMs: number | undefined
}

function endLine(examples: CommandLine<EndArgs>["examples"], waits: boolean): CommandLine<EndArgs> {
  return {
    options: [["--yes", "do not ask for confirmation"], messageOption, ...(waits ? waitOptions : [])],
    examples,
    parse: (_, options) => ({
      yes: options["yes"] === true,
      reason: textOf(options, "message"),
      waitMs: readWait(options),
    }),
  }
}

export const canaryPromote: Command = command(
  endLine([["sallyport canary promote", "make the plan of the canary that of all callers now"]], true),
  async (args, io) => {
    const remote = await connect(io)
    const { serial } = await end(io, remote, "promote", args)
    if (serial === null) return exitCode.ok
    io.out(`\nApplied as serial ${serial}.\n`)
    const { record } = expectOk<PlanAnswer>(await remote.request("GET", `/v1/plans/${serial}`))
    return waitForFleet(io, remote, record, args.waitMs)
  },
)

export const canaryCancel: Command = command(
  endLine([["sallyport canary cancel --yes", "serve all callers with the old plan again"]], false),
  async (args, io) => {
    const { base } = await end(io, await connect(io), "cancel", args)
    io.out(`\nCancelled. Serial ${base} serves all callers.\n`)
    return exitCode.ok
  },
)

async function end(
  io: Io,
  remote: Remote,
  how: "promote" | "cancel",
  { yes, reason }: EndArgs,
): Promise<CanaryRecord> {
  const answer = await answerOf(remote)
  const { canary } = answer
  if (canary?.state !== "running")
    throw new CliError("no canary runs", "`sallyport apply --canary 5%` begins one.")
  io.out(canaryAnswerText(answer))
  await confirm(io, how === "promote" ? "Serve all callers with it?" : "End it?", yes)
  const body = { id: canary.id, author: await authorOf(io, reason) }
  return expectOk<CanaryChanged>(await remote.request("POST", `/v1/canary/${how}`, body)).canary
}

async function answerOf(remote: Remote): Promise<CanaryAnswer> {
  const answer = await remote.request("GET", "/v1/canary")
  if (answer.status === 404)
    throw new CliError("the running Sallyport is too old for canaries", "Update it first.")
  return expectOk<CanaryAnswer>(answer)
}
