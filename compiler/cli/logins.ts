import { createHash } from "node:crypto"
import { chmod, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises"
import { isAbsolute, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as z from "zod"
import { CliError } from "./command.ts"
import type { Io } from "./io.ts"

/** A login at one control API, as `sallyport login` stores it. Times are RFC 3339; `expiresAt` null: the provider does not say when. */
const storedLogin = z.object({
  control: z.string(),
  issuer: z.string(),
  discovery: z.string(),
  client: z.string(),
  scope: z.string().nullable(),
  name: z.string(),
  accessToken: z.string().min(1),
  refreshToken: z.string().min(1).nullable(),
  obtainedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
})
/** A login at one control API. */
export type StoredLogin = z.infer<typeof storedLogin>

const lockPollMs = 50
/** A refresh is one request with a timeout of ten seconds, after one for the discovery document. */
const lockWaitMs = 60_000

/** The logins of this user: a folder for each URL of a control API, readable by its owner only. */
export class LoginStore {
  readonly #folder: string | undefined

  constructor({ env }: Pick<Io, "env">) {
    this.#folder = configFolder(env)
  }

  /** The login at a URL; undefined: there is none. @throws CliError for a file that cannot be used */
  async read(url: string): Promise<StoredLogin | undefined> {
    if (this.#folder === undefined) return undefined
    const path = this.#fileOf(url)
    const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined
      throw unusable(path, "read", error)
    })
    if (text === undefined) return undefined
    await demandPrivate(path)
    const found = storedLogin.safeParse(jsonOf(text))
    if (found.success && found.data.control === loginKey(url)) return found.data
    throw new CliError(`the login in ${path} is damaged`, `Delete the file, and run ${loginCommand(url)}.`)
  }

  /** Replaces the login at its URL. A reader sees the old one or the new one. */
  async write(login: StoredLogin): Promise<void> {
    const path = this.#fileOf(login.control)
    const beside = `${path}.${process.pid}`
    try {
      await this.#makeFolder(login.control)
      const file = await open(beside, "w", 0o600)
      try {
        // The mode above only applies to a new file.
        await file.chmod(0o600)
        await file.writeFile(`${JSON.stringify(login, null, 2)}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(beside, path)
    } catch (error) {
      await rm(beside, { force: true })
      throw unusable(path, "written", error as NodeJS.ErrnoException)
    }
  }

  /** Deletes the login at a URL, also one that is damaged. */
  async remove(url: string): Promise<void> {
    if (this.#folder !== undefined) await rm(this.#fileOf(url), { force: true })
  }

  /**
   * Runs work while no other command changes the login at a URL: a provider that rotates refresh tokens ends the login when one of them is used
   * twice. The lock of a process that has ended is taken over.
   */
  async exclusively<Result>(url: string, work: () => Promise<Result>): Promise<Result> {
    await this.#makeFolder(url)
    const { takeOwnership, FolderInUse } = await import("../../runtime/store/owner-lock.ts")
    const endMs = performance.now() + lockWaitMs
    for (;;) {
      try {
        const lock = await takeOwnership(this.#folderOf(url))
        try {
          return await work()
        } finally {
          await lock.release()
        }
      } catch (error) {
        if (!(error instanceof FolderInUse)) throw error
        if (performance.now() >= endMs)
          throw new CliError(
            `another command has been changing the login at ${url} for a minute (process ${error.pid})`,
            `Wait for it, or end it: kill ${error.pid}`,
          )
        await sleep(lockPollMs)
      }
    }
  }

  async #makeFolder(url: string): Promise<void> {
    const folder = this.#folderOf(url)
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await chmod(folder, 0o700)
    } catch (error) {
      throw unusable(folder, "written", error as NodeJS.ErrnoException)
    }
  }

  /** The host is in the name for people; the digest tells URLs of one host apart. */
  #folderOf(url: string): string {
    if (this.#folder === undefined)
      throw new CliError(
        "there is no folder for logins: neither XDG_CONFIG_HOME nor HOME is set",
        "Set XDG_CONFIG_HOME to a folder of this user.",
      )
    const key = loginKey(url)
    const host = new URL(key).host.replace(/[^A-Za-z0-9.-]/g, "_").slice(0, 100)
    const digest = createHash("sha256").update(key).digest("hex").slice(0, 16)
    return join(this.#folder, "logins", `${host}-${digest}`)
  }

  #fileOf(url: string): string {
    return join(this.#folderOf(url), "login.json")
  }
}

/** The folder by the XDG Base Directory Specification, which says to ignore a relative path. */
function configFolder(env: Io["env"]): string | undefined {
  const { XDG_CONFIG_HOME: xdg = "", APPDATA: windows = "", HOME: home = "" } = env
  if (isAbsolute(xdg)) return join(xdg, "sallyport")
  if (process.platform === "win32" && isAbsolute(windows)) return join(windows, "sallyport")
  return isAbsolute(home) ? join(home, ".config", "sallyport") : undefined
}

/** One text for all forms of a URL. */
export function loginKey(url: string): string {
  return new URL(url).href.replace(/\/$/, "")
}

/** The command that logs in at a URL, for help texts. */
export function loginCommand(url: string): string {
  return `\`sallyport login --control ${url}\``
}

/** Windows has no modes: there the folder of the user is private. */
async function demandPrivate(path: string): Promise<void> {
  if (process.platform === "win32") return
  const { mode } = await stat(path)
  if ((mode & 0o077) !== 0)
    throw new CliError(
      `the login in ${path} can be read by other users of this machine`,
      `Run \`chmod 600 ${path}\`, and log in again if somebody could have read it.`,
    )
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function unusable(path: string, how: string, error: NodeJS.ErrnoException): CliError {
  return new CliError(
    `${path} cannot be ${how} (${error.code ?? error.message})`,
    "Make it accessible for this user, or set XDG_CONFIG_HOME to another folder.",
  )
}
