/** Why a file cannot be read, by the system's code, with the remedy. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT:
    "there is no such file; create it or correct the path, which is relative to the working directory of the process",
  ENOTDIR: "a part of the path is not a folder; correct the path",
  EISDIR: "it is a folder; name a file in it",
  EACCES: "permission denied; change its permissions, or those of the folders above",
  EPERM: "permission denied; change its permissions, or those of the folders above",
  ELOOP: "its symbolic links form a cycle; correct them",
}

/**
 * Why a file of a plan cannot be read, and what an operator can do about it. `error` comes from Node's file functions, or it describes what is wrong
 * with the content.
 */
export function fileReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return reasons[code ?? ""] ?? message ?? String(error)
}
