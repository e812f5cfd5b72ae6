import { execFile } from "node:child_process"
import { userInfo } from "node:os"
import type { Author } from "../../runtime/control/api.ts"
import type { Io } from "./io.ts"

/** Who applies, for the history: the CI's or the system's user, the git commit of the folder (`+` when it has uncommitted changes) with its first line, and the reason that was given. */
export async function authorOf(io: Io, reason: string | undefined): Promise<Author> {
  const commit = await git(io, ["rev-parse", "HEAD"])
  const dirty = commit === null ? null : await git(io, ["status", "--porcelain", "--untracked-files=no"])
  const subject = commit === null ? null : await git(io, ["log", "-1", "--format=%s"])
  return {
    who: (io.env["SALLYPORT_WHO"] ?? userName()).slice(0, 200),
    commit: commit === null ? null : `${commit}${dirty ? "+" : ""} ${subject ?? ""}`.slice(0, 200),
    message: reason?.slice(0, 2000) || null,
  }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return "unknown"
  }
}

/** Output of a git command, null where there is no git or no repository: neither is a reason not to apply. */
function git(io: Io, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile("git", [...args], { cwd: io.cwd, timeout: 5_000 }, (error, out) =>
      resolve(error === null ? out.trim() : null),
    )
  })
}
