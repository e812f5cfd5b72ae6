import { execFile } from "node:child_process"
import { userInfo } from "node:os"
import type { Author } from "../../runtime/control/api.ts"
import type { Io } from "./io.ts"

/**
 * The author of a plan, for the history: the user of the CI or the system, the git commit of the folder (with `+` for uncommitted changes)
 * and its first line, and the given reason.
 */
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

/** Output of a git command; null without git or a repository, which must not prevent `apply`. */
function git(io: Io, args: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile("git", [...args], { cwd: io.cwd, timeout: 5_000 }, (error, out) =>
      resolve(error === null ? out.trim() : null),
    )
  })
}
