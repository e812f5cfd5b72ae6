import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { CliError } from "../command.ts"
import type { Io } from "../io.ts"
import { ownFolder } from "../settings.ts"

/**
 * Creates .sallyport/ and locks it for this `dev` process. Returns a function that releases it. The folder contains keys and tokens: it is
 * readable by its owner only, and git ignores it.
 */
export async function takeOwnFolder(io: Io): Promise<() => Promise<void>> {
  const folder = join(io.cwd, ownFolder)
  const lockFolder = join(folder, "dev")
  try {
    mkdirSync(lockFolder, { recursive: true, mode: 0o700 })
    chmodSync(folder, 0o700)
    writeFileSync(join(folder, ".gitignore"), "*\n")
  } catch (error) {
    throw new CliError(
      `the folder ${folder} cannot be written (${(error as NodeJS.ErrnoException).code})`,
      "Start in a folder this user may write to.",
    )
  }
  const { takeOwnership, FolderInUse } = await import("../../../runtime/store/owner-lock.ts")
  try {
    const lock = await takeOwnership(lockFolder)
    return () => lock.release()
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error
    throw new CliError(
      `\`sallyport dev\` already runs in this folder: process ${error.pid}`,
      `Use that one (it applies what you save), or end it: kill ${error.pid}`,
    )
  }
}
