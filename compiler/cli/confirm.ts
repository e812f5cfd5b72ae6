import { CliError, exitCode } from "./command.ts"
import type { Io } from "./io.ts"

/** Asks for confirmation before a change. Exits with 3 without a terminal, or if the answer is not `yes`. */
export async function confirm(io: Io, question: string, yes: boolean): Promise<void> {
  if (yes) return
  if (!io.interactive) {
    throw new CliError(
      "nothing was done: the confirmation needs a terminal",
      "Add --yes to do it without being asked.",
      exitCode.refused,
    )
  }
  const answer = await io.ask(`\n${question} Only \`yes\` is accepted: `)
  if (answer.trim() !== "yes") throw new CliError("nothing was done", undefined, exitCode.refused)
}
