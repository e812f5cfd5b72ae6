import { randomUUID } from "node:crypto"
import { realpathSync, renameSync, statSync, unlinkSync, writeFileSync } from "node:fs"
import { CliError } from "./command.ts"

/** Writes a temporary file in the same folder and renames it, so that readers see the old or the new text. A symbolic link is kept. */
export function replaceFile(path: string, text: string): void {
  // A link to a file elsewhere is followed: renaming would replace the link and leave the file as it was.
  const real = realpathSync(path)
  const beside = `${real}.${randomUUID()}`
  try {
    // The mode is copied, because the new file would have the one of this process.
    writeFileSync(beside, text, { mode: statSync(real).mode })
    renameSync(beside, real)
  } catch (error) {
    try {
      unlinkSync(beside)
    } catch {
      // The temporary file was not created.
    }
    throw new CliError(`${path} cannot be written (${(error as NodeJS.ErrnoException).code})`)
  }
}
