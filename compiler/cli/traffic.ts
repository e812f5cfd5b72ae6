import { statSync } from "node:fs"
import { resolve } from "node:path"
import type { Plan } from "../../runtime/plan/plan.ts"
import type { OpenRecord } from "../../runtime/record/read-record.ts"
import type { Replay } from "../replay/replay.ts"
import { CliError, type OptionValues } from "./command.ts"
import type { Io } from "./io.ts"
import type { LocatedPlan } from "./located-plan.ts"
import { textOf } from "./options.ts"

/** The option of commands that compare two plans. */
export const trafficOption = [
  "--traffic <folder>",
  "also replay the record of requests in this folder: who is treated differently, and which share of calls and callers is concerned",
] as const

/**
 * Replays the record in a folder through both plans.
 * @throws CliError when the record cannot be read, or a plan cannot run here
 */
export async function replayTraffic(
  io: Io,
  folder: string,
  { before, after }: { readonly before: LocatedPlan; readonly after: LocatedPlan },
): Promise<Replay> {
  const record = await openTraffic(io, folder, [before, after])
  const { replayRecord } = await import("../replay/replay-record.ts")
  const located = ({ plan, folder: own }: LocatedPlan) => ({
    ...{ plan, environment: io.env, folder: resolve(io.cwd, own) },
  })
  const replay = await replayRecord(record, { before: located(before), after: located(after) })
  if (typeof replay === "string")
    throw new CliError(
      `the plans cannot run here: ${replay}`,
      "Set what is missing, as for `sallyport serve`.",
    )
  if (replay.recorded.requests === 0 && replay.segments.foreign > 0)
    throw new CliError(
      `the record in ${folder} was encrypted with another secret`,
      "Set the secret of `record` to the value that the gateway had.",
    )
  return replay
}

/** Opens a record with the secret that a plan names for it: the new plan's, or that of the old one. */
async function openTraffic(io: Io, folder: string, plans: readonly LocatedPlan[]): Promise<OpenRecord> {
  const path = resolve(io.cwd, folder)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new CliError(`there is no folder ${folder}`, "Name the folder of `record` in gateway.conf.")
  const recording = [...plans].reverse().find(({ plan }) => plan.plan.gateway?.record !== undefined)
  const name = recording?.plan.plan.gateway?.record?.protectedBy.secret
  if (recording === undefined || name === undefined)
    throw new CliError(
      "none of the plans has `record`, so the secret of the record is not known",
      "Replay with a plan whose `gateway` has `record`.",
    )
  const secret = await secretOf(io, recording, name)
  const { openRecord } = await import("../../runtime/record/read-record.ts")
  return openRecord(path, secret)
}

/** Reads the secret as `serve` does. */
async function secretOf(io: Io, { plan, folder }: LocatedPlan, name: string): Promise<string> {
  const { resolveReferences } = await import("../../runtime/gateway/generation/references.ts")
  const { LoadError } = await import("../../runtime/gateway/generation/load-error.ts")
  const alone: Pick<Plan, "plan" | "origins"> = { ...plan, plan: { ...plan.plan, values: {} } }
  try {
    const outside = { environment: io.env, folder: resolve(io.cwd, folder) }
    return (await resolveReferences(alone, new Set([name]), outside)).secrets.get(name) ?? ""
  } catch (error) {
    if (error instanceof LoadError)
      throw new CliError(error.problems[0] ?? error.message, "The secret decrypts the record.")
    throw error
  }
}

/** Reads `--traffic FOLDER`. The JSON of `plan` and `diff` is a list of changes, so the replay has a command of its own for that. */
export function readTraffic(options: OptionValues, format: string): string | undefined {
  const folder = textOf(options, "traffic")
  if (folder !== undefined && format === "json")
    throw new CliError(
      "--traffic cannot be a part of the JSON of changes",
      "Use `sallyport replay FOLDER --format json`.",
    )
  return folder
}

/** Prints what recorded requests become, below the changes. */
export async function showTraffic(
  io: Io,
  folder: string,
  plans: { readonly before: LocatedPlan; readonly after: LocatedPlan },
  format: "text" | "json" | "markdown",
): Promise<void> {
  const found = await replayTraffic(io, folder, plans)
  const { replayText } = await import("../render/replay.ts")
  const isMarkdown = format === "markdown"
  const text = replayText(found, { colour: !isMarkdown && io.colour.out })
  io.out(isMarkdown ? `\n\`\`\`text\n${text}\`\`\`\n` : `\n${text}`)
}
