import { createHash, randomUUID } from "node:crypto"
import { mkdir, open, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import * as z from "zod"
import type { KeptPlan, PlanDisk } from "../control/ports.ts"
import type { Plan } from "../plan/plan.ts"
import { readPlan } from "../plan/read.ts"
import { hostName, readConnectionUrl } from "../store/connection-url.ts"
import type { PlanIdentity } from "../store/plans.ts"
import type { Log } from "../telemetry/log.ts"
import type { ServerSettings } from "./database.ts"
import { type RuntimeSettings, spoolOf } from "./settings.ts"

const format = 1
const body = z.strictObject({
  format: z.literal(format),
  keptAt: z.iso.datetime(),
  serial: z.number().int().positive(),
  stamp: z.string(),
  plan: z.unknown(),
})

/** Why a file is not used; the message is for operators. */
class Unusable extends Error {}

/**
 * The last running plan, in a file, for a start without the database. Processes of a machine share the file: they run the same plan, and
 * the file is replaced atomically. It contains the plan as stored in the database, with references instead of secrets.
 */
export class KeptPlanFile implements PlanDisk {
  readonly #folder: string
  readonly #path: string
  readonly #log: Log
  #warned = false

  /** One file for each database, so that a process never runs the plan of another one. */
  constructor(folder: string, database: ServerSettings, log: Log) {
    this.#folder = folder
    this.#path = join(folder, `${digestOf(placeOf(database)).slice(0, 16)}.plan`)
    this.#log = log
  }

  async read(): Promise<KeptPlan | string> {
    try {
      return keptOf(await this.#text())
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return "there is no plan on disk"
      return `the plan on disk cannot be used (${this.#path}): ${error instanceof Error ? error.message : String(error)}`
    }
  }

  /** Writes the plan that is served, with its digest. The file is synced before it is renamed, so that it is never half written. */
  async write({ serial, stamp }: PlanIdentity, plan: Plan): Promise<void> {
    const text = JSON.stringify({ format, keptAt: new Date().toISOString(), serial, stamp, plan })
    // Several processes may write at once, so each one writes a file of its own and then renames it.
    const own = `${this.#path}.${randomUUID()}.tmp`
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      const file = await open(own, "wx", 0o600)
      try {
        await file.writeFile(sealKept(text))
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(own, this.#path)
      this.#warned = false
    } catch (error) {
      await rm(own, { force: true }).catch(() => undefined)
      if (this.#warned) return
      this.#warned = true
      const reason = error instanceof Error ? error.message : String(error)
      this.#log.warn(
        { serial, reason },
        "the plan could not be saved on disk for a start without the database",
      )
    }
  }

  /** Reads the file, if nobody else could have written it. */
  async #text(): Promise<string> {
    const file = await open(this.#path, "r")
    try {
      const { uid, mode } = await file.stat()
      // A user who can write the file decides which plan runs.
      if ((mode & 0o022) !== 0) throw new Unusable("other users may write it")
      if (process.getuid !== undefined && uid !== process.getuid())
        throw new Unusable("it belongs to another user")
      return await file.readFile("utf8")
    } finally {
      await file.close()
    }
  }
}

/** A file's text: the digest of its second line, and that line. */
export function sealKept(text: string): string {
  return `${digestOf(text)}\n${text}`
}

/** Checks digest, format and plan: a damaged file is not served. */
function keptOf(text: string): KeptPlan {
  const end = text.indexOf("\n")
  const content = text.slice(end + 1)
  if (end < 0 || digestOf(content) !== text.slice(0, end)) throw new Unusable("its digest does not match")
  const read = body.safeParse(JSON.parse(content))
  if (!read.success) throw new Unusable("another version of Sallyport wrote it")
  const { serial, stamp, keptAt } = read.data
  const plan = readPlan(read.data.plan)
  if ("problems" in plan) throw new Unusable(plan.problems[0]?.message ?? "it does not contain a plan")
  return { identity: { serial, stamp }, plan: plan.plan, keptAt: new Date(keptAt) }
}

/** Identifies a database by its servers, its name and its schema: user, password and options do not matter, nor does the order of the servers. */
function placeOf({ url, schema = "", env = process.env }: ServerSettings): string {
  const { hosts, database } = readConnectionUrl(url, env)
  return [...hosts.map(hostName).sort(), database, schema].join("\n")
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}

/**
 * Uses the spool's folder, which may be the only writable one. Undefined for an embedded database: it is on the same disk, so it cannot be
 * unavailable alone.
 */
export function keptPlanOf(settings: RuntimeSettings): KeptPlanFile | undefined {
  const { database, keepPlan, log } = settings
  if (keepPlan === false || "folder" in database) return undefined
  return new KeptPlanFile(join(spoolOf(settings), "plan"), database, log)
}
