import { CliError, type Command, type ExitCode, exitCode, type OptionValues } from "../command.ts"
import type { Io } from "../io.ts"

/** What became of one step: `changes` is a plan that differs, which is no failure. */
export type CiStatus = "passed" | "failed" | "changes" | "skipped"

/** A step that was run, with what its command printed. */
export interface CiResult {
  /** The command line without the name of the program. */
  readonly line: string
  readonly status: CiStatus
  /** In words, e.g. the problem of a step that failed, or why it was skipped. */
  readonly note: string
  readonly text: string
}

/** One command of a `ci` run. */
export interface CiStep {
  readonly line: string
  load(): Promise<Command>
  readonly operands: readonly string[]
  readonly options: OptionValues
  /** Why the step is not run; undefined: it is. */
  readonly skipped?: string | undefined
}

/** Runs a command with its output kept. Its mistakes of the user become the result, as on its own command line. */
export async function runStep({ line, load, operands, options, skipped }: CiStep, io: Io): Promise<CiResult> {
  if (skipped !== undefined) return { line, status: "skipped", note: skipped, text: "" }
  let text = ""
  const keep = (more: string): void => {
    text += more
  }
  // Nobody can answer a question, and a report has no colours.
  const quiet: Io = {
    ...io,
    ...{ out: keep, err: keep, interactive: false, typed: false, progress: false },
    colour: { out: false, err: false },
  }
  try {
    const command = await load()
    const status = statusOf(await command.run(operands, options, quiet))
    return { line, status, note: status === "failed" ? lastLine(text) : "", text }
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    const help = error.help === undefined ? "" : `\n${error.help}`
    return { line, status: "failed", note: error.message, text: `${text}error: ${error.message}${help}\n` }
  }
}

function statusOf(code: ExitCode): CiStatus {
  if (code === exitCode.ok) return "passed"
  return code === exitCode.changes ? "changes" : "failed"
}

function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1) ?? ""
}
