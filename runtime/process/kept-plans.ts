import { readdir, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { type PlanAnswer, type PlanRecord, planRecord } from "../control/api.ts"
import type { Plan } from "../plan/plan.ts"
import { readPlan } from "../plan/read.ts"
import { digestOf, openSealed, readOwnFile, replaceOwnFile, sealText, Unusable } from "./own-file.ts"

/** As many plans as are kept at most, and their size in bytes. The newest one is always kept. */
const plansMax = 10
const bytesMax = 64 * 1024 * 1024

/**
 * The last plans that processes of this machine have served, a file each, for a rollback without the database. A file has three lines: the digest of
 * the others, the record of the plan in the history (with its seal), and the plan as stored in the database, with references instead of secrets.
 */
export class KeptPlans {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  /** Keeps a plan and removes the oldest ones. Rejects with the system's error. */
  async write(record: PlanRecord, plan: Plan): Promise<void> {
    const path = join(this.folder, nameOf(record))
    // A plan of the history never changes, so the file of a plan that was kept before is as good.
    if ((await stat(path).catch(() => undefined)) === undefined)
      await replaceOwnFile(path, sealText(`${JSON.stringify(record)}\n${JSON.stringify(plan)}`))
    await this.#removeOld(path)
  }

  /** Records of the kept plans, the last one that was kept first. Files that cannot be used are left out. */
  async list(): Promise<readonly PlanRecord[]> {
    const records: PlanRecord[] = []
    for (const { path } of await this.#files()) {
      const text = await readOwnFile(path).catch(() => "")
      try {
        const record = planRecord.safeParse(JSON.parse(text.split("\n", 2)[1] ?? ""))
        if (record.success) records.push(record.data)
      } catch {}
    }
    return records
  }

  /** A kept plan; a text says why its file cannot be used; undefined: it is not kept. Without a stamp the last one of that serial. */
  async find(serial: number, stamp?: string): Promise<PlanAnswer | string | undefined> {
    const names =
      stamp === undefined
        ? (await this.#files()).map(({ name }) => name).filter((name) => name.startsWith(`${serial}.`))
        : [nameOf({ serial, stamp })]
    const [name] = names
    if (name === undefined) return undefined
    const path = join(this.folder, name)
    try {
      return answerOf(await readOwnFile(path))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
      return `plan ${serial}, kept on disk, cannot be used (${path}): ${error instanceof Error ? error.message : String(error)}`
    }
  }

  /** Files of plans, the last one that was written first. */
  async #files(): Promise<{ name: string; path: string; bytes: number; writtenMs: number }[]> {
    const names = (await readdir(this.folder).catch(() => [])).filter((name) => name.endsWith(".plan"))
    const files = await Promise.all(
      names.map(async (name) => {
        const path = join(this.folder, name)
        const found = await stat(path).catch(() => undefined)
        return found && { name, path, bytes: found.size, writtenMs: found.mtimeMs }
      }),
    )
    return files
      .filter((file) => file !== undefined)
      .sort((one, other) => other.writtenMs - one.writtenMs || serialOf(other.name) - serialOf(one.name))
  }

  async #removeOld(newest: string): Promise<void> {
    let bytes = 0
    for (const [at, file] of (await this.#files()).entries()) {
      bytes += file.bytes
      if (file.path !== newest && (at >= plansMax || bytes > bytesMax)) await rm(file.path, { force: true })
    }
  }
}

/** After a restore, the same serial may belong to another plan. */
function nameOf({ serial, stamp }: Pick<PlanRecord, "serial" | "stamp">): string {
  return `${serial}.${digestOf(stamp).slice(0, 12)}.plan`
}

function serialOf(name: string): number {
  return Number.parseInt(name, 10)
}

/** Checks digest, record and plan. */
function answerOf(text: string): PlanAnswer {
  const content = openSealed(text)
  const end = content.indexOf("\n")
  const record = planRecord.safeParse(JSON.parse(content.slice(0, end)))
  if (!record.success) throw new Unusable("another version of Sallyport wrote it")
  const plan = readPlan(JSON.parse(content.slice(end + 1)))
  if ("problems" in plan) throw new Unusable(plan.problems[0]?.message ?? "it does not contain a plan")
  return { record: record.data, plan: plan.plan }
}
