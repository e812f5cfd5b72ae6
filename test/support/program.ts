import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { delimiter, join } from "node:path"

/** The path of a program in PATH, or where `go install` puts it; undefined when it is not installed. */
export function programPath(name: string): string | undefined {
  const { GOBIN, GOPATH = join(homedir(), "go"), PATH = "" } = process.env
  const folders = [...PATH.split(delimiter), GOBIN ?? join(GOPATH, "bin")]
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}

/** What a program printed. Its errors are in the message of the error that is thrown when it fails. */
export function outputOf(program: string, words: readonly string[], cwd?: string): string {
  const { error, status, stdout, stderr } = spawnSync(program, words, { cwd, encoding: "utf8" })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${program} ${words.join(" ")} ended with ${status}: ${stderr}${stdout}`)
  return stdout
}
