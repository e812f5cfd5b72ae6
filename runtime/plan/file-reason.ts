const reasons: Readonly<Record<string, string>> = {
  ENOENT:
    "there is no such file; put it there, or correct the path, which starts from the folder the process runs in",
  ENOTDIR: "a part of the path is not a folder; correct the path",
  EISDIR: "it is a folder; name a file in it",
  EACCES: "this user may not read it; change its permissions, or those of the folders above",
  EPERM: "this user may not read it; change its permissions, or those of the folders above",
  ELOOP: "its symbolic links lead in a circle; correct them",
}

/**
 * Why a file of a plan cannot be read, and what an operator can do about it. `error` comes from Node's file functions, or it describes what is wrong
 * with the content.
 */
export function fileReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return reasons[code ?? ""] ?? message ?? String(error)
}
