import { writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { CliError } from "./command.ts"
import type { Io } from "./io.ts"

/**
 * Writes a file beside the output. `what`: what it contains, in words.
 * @throws CliError with the system's reason
 */
export function writeOutputFile(io: Io, path: string, text: string, what: string): void {
  try {
    writeFileSync(resolve(io.cwd, path), text)
  } catch (error) {
    throw new CliError(
      `${what} cannot be written to ${path} (${(error as NodeJS.ErrnoException).code})`,
      "Name a file in an existing folder that this user may write to.",
    )
  }
}
