import { chmod, mkdir, readFile, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { CliError } from "./command.ts"
import type { Io } from "./io.ts"

/** The file for the control token of `serve` and `dev`, relative to the project. */
export const tokenFile = ".sallyport/control.token"

/** The token of the control listener, and whether it was just created. */
export interface ControlToken {
  readonly token: string
  readonly made: boolean
}

/**
 * The token of the environment, else the one in .sallyport/control.token, else a new one, stored there for other commands in this folder. An
 * existing token is kept: a restart must not lock out its holders.
 */
export async function controlTokenOf(io: Io): Promise<ControlToken> {
  const given = await givenToken(io)
  if (given !== undefined) return { token: longEnough(given, "SALLYPORT_CONTROL_TOKEN"), made: false }
  const path = join(io.cwd, tokenFile)
  const found = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return ""
    throw unusable(error, "read")
  })
  if (found.trim() !== "") return { token: longEnough(found.trim(), tokenFile), made: false }
  const { newControlToken } = await import("../../runtime/control/token.ts")
  const token = newControlToken()
  await leaveToken(io, token)
  return { token, made: true }
}

/** The token that `serve` and `dev` write, so that commands in the same folder need no setting; undefined: there is none. */
export async function folderToken(io: Io): Promise<string | undefined> {
  try {
    return (await readFile(join(io.cwd, tokenFile), "utf8")).trim()
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === "ENOENT" || code === "ENOTDIR") return undefined
    throw new CliError(
      `${tokenFile} cannot be read (${code})`,
      "Run as the user that started `sallyport dev`, or set SALLYPORT_CONTROL_TOKEN.",
    )
  }
}

/** Stores the token for the commands of this folder, readable by its owner only. */
export async function leaveToken(io: Io, token: string): Promise<void> {
  const path = join(io.cwd, tokenFile)
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(path, `${token}\n`, { mode: 0o600 })
    // The mode above only applies to a new file.
    await chmod(path, 0o600)
  } catch (error) {
    throw unusable(error as NodeJS.ErrnoException, "written")
  }
}

/** The token of the environment; undefined: none is set. */
export async function givenToken(io: Io): Promise<string | undefined> {
  const token = io.env["SALLYPORT_CONTROL_TOKEN"] || undefined
  const file = io.env["SALLYPORT_CONTROL_TOKEN_FILE"] || undefined
  if (file === undefined) return token
  // Neither one has precedence: after a rotation, only one of them would have the new token.
  if (token !== undefined)
    throw new CliError(
      "SALLYPORT_CONTROL_TOKEN and SALLYPORT_CONTROL_TOKEN_FILE are both set",
      "Remove one of them.",
    )
  return tokenIn(resolve(io.cwd, file))
}

/** A file of Docker or Kubernetes: the token alone, with or without a line end, as in SALLYPORT_DATABASE_PASSWORD_FILE. */
async function tokenIn(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new CliError(
      `the control token file ${path} cannot be read (${error.code})`,
      "Set SALLYPORT_CONTROL_TOKEN_FILE to a file that this user can read and that contains the token alone.",
    )
  })
  const token = text.replace(/\r?\n$/, "")
  // Checked for clients too: a second line in the file would make an invalid header.
  if (token !== "") return longEnough(token, path)
  throw new CliError(
    `the control token file ${path} is empty`,
    "Write the token into it, e.g. from `openssl rand -hex 32`.",
  )
}

function longEnough(token: string, where: string): string {
  if (/^\S{16,1024}$/.test(token)) return token
  throw new CliError(
    `the control token in ${where} is too short or contains spaces`,
    "Use at least 16 characters, e.g. from `openssl rand -hex 32`.",
  )
}

function unusable(error: NodeJS.ErrnoException, how: string): CliError {
  return new CliError(
    `${tokenFile} cannot be ${how} (${error.code ?? error.message})`,
    "Make the folder writable for this user, or set SALLYPORT_CONTROL_TOKEN.",
  )
}
