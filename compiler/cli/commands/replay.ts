import { replayDocument, replayText } from "../../render/replay.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import type { Io } from "../io.ts"
import { type LocatedPlan, readLocatedPlan } from "../located-plan.ts"
import { configOption, formatOptions, type ProjectArgs, readFormat, readProject, textOf } from "../options.ts"
import { print } from "../print.ts"
import { compilePlan, demandEntry } from "../project.ts"
import { connect, orWithout } from "../remote.ts"
import { runningPlan } from "../running.ts"
import { replayTraffic } from "../traffic.ts"

interface ReplayArgs {
  /** Of the record. */
  readonly record: string
  readonly project: ProjectArgs
  /** A folder with gateway.conf, a .conf file or a plan file; undefined: the running plan. */
  readonly against: string | undefined
  readonly format: "text" | "json"
}

const replayLine: CommandLine<ReplayArgs> = {
  operands: [["<folder>", "the folder of `record`, or a copy of it"]],
  options: [
    configOption,
    [
      "--against <plan>",
      "compare with this plan: a folder with gateway.conf, a .conf file or a plan file (default: the running plan)",
    ],
    ...formatOptions,
  ],
  examples: [
    [
      "sallyport replay traffic",
      "what gateway.conf would do with recorded requests, compared with the running plan",
    ],
    [
      "sallyport replay traffic --against ../main",
      "compared with another checkout; no Sallyport needs to run",
    ],
  ],
  parse([record], options) {
    if (record === undefined)
      throw new CliError("replay needs the folder of a record", "For example: sallyport replay traffic")
    const [against, format] = [textOf(options, "against"), readFormat(options, ["text", "json"])]
    return { record, project: readProject(options), against, format }
  },
}

/** Exit code 2 means that requests are treated differently. */
export const replay = command(replayLine, async ({ record, project, against, format }, io) => {
  const files = demandEntry(io, project)
  const before = against === undefined ? await running(io, project) : await readLocatedPlan(io, against)
  const after = { plan: await compilePlan(io, project, files), folder: project.folder }
  const found = await replayTraffic(io, record, { before, after })
  print(io, format, replayDocument(found), () => replayText(found, { colour: io.colour.out }))
  return found.differing.requests === 0 ? exitCode.ok : exitCode.changes
})

async function running(io: Io, { folder }: ProjectArgs): Promise<LocatedPlan> {
  const found = await orWithout(
    "To compare without a running Sallyport, add `--against FOLDER` or `--against FILE`.",
    async () => runningPlan(await connect(io)),
  )
  if (found === undefined)
    throw new CliError("no plan is running yet", "Add `--against FOLDER` or `--against FILE`.")
  return { plan: found.plan, folder }
}
