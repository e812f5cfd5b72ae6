import { join } from "node:path"
import * as z from "zod"
import type { PlanRecord } from "../control/api.ts"
import type { KeptPlan, PlanDisk } from "../control/ports.ts"
import type { Plan } from "../plan/plan.ts"
import { readPlan } from "../plan/read.ts"
import { hostName, readConnectionUrl } from "../store/connection-url.ts"
import type { Log } from "../telemetry/log.ts"
import type { ServerSettings } from "./database.ts"
import { KeptPlans } from "./kept-plans.ts"
import { digestOf, openSealed, readOwnFile, replaceOwnFile, sealText, Unusable } from "./own-file.ts"
import { type RuntimeSettings, spoolOf } from "./settings.ts"

const format = 1
const body = z.strictObject({
  format: z.literal(format),
  keptAt: z.iso.datetime(),
  serial: z.number().int().positive(),
  stamp: z.string(),
  plan: z.unknown(),
})

/**
 * The last running plan, in a file, for a start without the database. Processes of a machine share the file: they run the same plan, and
 * the file is replaced atomically. It contains the plan as stored in the database, with references instead of secrets.
 */
export class KeptPlanFile implements PlanDisk {
  readonly #path: string
  readonly #log: Log
  #warned = false
  /** This plan and those before it, for a rollback without the database. */
  readonly plans: KeptPlans

  /** One file for each database, so that a process never runs the plan of another one. */
  constructor(spool: string, database: ServerSettings, log: Log) {
    const name = digestOf(placeOf(database)).slice(0, 16)
    this.#path = join(spool, "plan", `${name}.plan`)
    this.plans = new KeptPlans(join(spool, "plans", name))
    this.#log = log
  }

  async read(): Promise<KeptPlan | string> {
    try {
      return keptOf(await readOwnFile(this.#path))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return "there is no plan on disk"
      return `the plan on disk cannot be used (${this.#path}): ${error instanceof Error ? error.message : String(error)}`
    }
  }

  /** Writes the plan that is served, with its digest. */
  async write(record: PlanRecord, plan: Plan): Promise<void> {
    const { serial, stamp } = record
    const text = JSON.stringify({ format, keptAt: new Date().toISOString(), serial, stamp, plan })
    try {
      await replaceOwnFile(this.#path, sealText(text))
      await this.plans.write(record, plan)
      this.#warned = false
    } catch (error) {
      if (this.#warned) return
      this.#warned = true
      const reason = error instanceof Error ? error.message : String(error)
      this.#log.warn(
        { serial, reason },
        "the plan could not be saved on disk for a start without the database",
      )
    }
  }
}

/** Checks digest, format and plan: a damaged file is not served. */
function keptOf(text: string): KeptPlan {
  const read = body.safeParse(JSON.parse(openSealed(text)))
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

/**
 * Uses the spool's folder, which may be the only writable one. Undefined for an embedded database: it is on the same disk, so it cannot be
 * unavailable alone.
 */
export function keptPlanOf(settings: RuntimeSettings): KeptPlanFile | undefined {
  const { database, keepPlan, log } = settings
  if (keepPlan === false || "folder" in database) return undefined
  return new KeptPlanFile(spoolOf(settings), database, log)
}
