import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { link, readFile, rename, rm, unlink, writeFile } from "node:fs/promises"
import { join } from "node:path"

/** Held until it is released. When a process ends without releasing it, the next process takes the lock over. */
export interface OwnerLock {
  release(): Promise<void>
}

/** The folder is open in another living process. The message is for the user. */
export class FolderInUse extends Error {
  override readonly name = "FolderInUse"
  readonly pid: number

  constructor(folder: string, pid: number) {
    super(
      `${folder} is in use by process ${pid} (another \`sallyport dev\` or \`serve\` in this folder). Two processes on one embedded database would destroy it: stop that one, or set SALLYPORT_DATABASE_URL to a PostgreSQL server`,
    )
    this.pid = pid
  }
}

interface Owner {
  readonly pid: number
  /** Start time of the process, in the format of the system. The system reuses process ids, so the id alone is not enough. */
  readonly started: string
}

/**
 * Makes this process the owner of `folder`, because the embedded database does not notice a second opener. Takes over the lock of a dead
 * process.
 * @throws FolderInUse
 */
export async function takeOwnership(folder: string): Promise<OwnerLock> {
  const path = join(folder, "owner.json")
  const mine = JSON.stringify({ pid: process.pid, started: startOf(process.pid) ?? "" } satisfies Owner)
  for (let attempt = 0; attempt < 20; attempt += 1) {
    if (await create(path, mine)) return { release: () => release(path, mine) }
    const found = await readFile(path, "utf8").catch(() => undefined)
    if (found === undefined) continue
    const owner = readOwner(found)
    if (owner !== undefined && isAlive(owner)) throw new FolderInUse(folder, owner.pid)
    if (await takeOver(path, found, mine)) return { release: () => release(path, mine) }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`the lock ${path} cannot be acquired; remove the file if no process uses the folder`)
}

async function create(path: string, content: string): Promise<boolean> {
  // Write the file first and link it then, so that another process never reads half a file.
  const temporary = `${path}.${process.pid}`
  await writeFile(temporary, content)
  try {
    await link(temporary, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    return false
  } finally {
    await rm(temporary, { force: true })
  }
}

/**
 * Replaces the lock only if it still contains `stale`, and only once. The stale file gets a second name derived from its content; the
 * process that succeeds in creating that name may replace the lock.
 */
async function takeOver(path: string, stale: string, mine: string): Promise<boolean> {
  const right = `${path}.stale-${Buffer.from(stale).toString("hex").slice(-64)}`
  try {
    await link(path, right)
  } catch {
    return false
  }
  try {
    if ((await readFile(right, "utf8")) !== stale) return false
    const temporary = `${path}.${process.pid}`
    await writeFile(temporary, mine)
    await rename(temporary, path)
    return true
  } finally {
    await unlink(right)
  }
}

async function release(path: string, mine: string): Promise<void> {
  const found = await readFile(path, "utf8").catch(() => undefined)
  if (found === mine) await rm(path, { force: true })
}

function readOwner(text: string): Owner | undefined {
  try {
    const owner = JSON.parse(text) as Owner
    return Number.isInteger(owner.pid) && owner.pid > 0 && typeof owner.started === "string"
      ? owner
      : undefined
  } catch {
    return undefined
  }
}

/** This process counts as alive too: two databases on one folder are as harmful in one process as in two. */
function isAlive(owner: Owner): boolean {
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    // EPERM: the process lives and belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false
  }
  const started = startOf(owner.pid)
  return started === undefined || owner.started === "" || started === owner.started
}

/** Undefined where the system has no `/proc` (Windows): then only the process id is compared. */
function startOf(pid: number): string | undefined {
  try {
    if (process.platform === "linux") {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
      // The command, in parentheses, may contain spaces, so count the fields after it. Field 22 is relative to the boot, so add the boot's
      // id.
      const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      // A zombie only keeps its process id until its parent collects it.
      return fields[0] === "Z" ? "zombie" : `${boot} ${fields[19]}`
    }
    if (process.platform === "win32") return undefined
    return execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim() || undefined
  } catch {
    return undefined
  }
}
