import { join } from "node:path"
import type { ModelText } from "../authz/ports.ts"
import type { TupleKey } from "../check/ports.ts"
import type { Author } from "../control/api.ts"
import type { ApplyOutcome } from "../control/ports.ts"
import type { Plan } from "../plan/plan.ts"
import type { Address } from "../plan/resources.ts"
import type { Log } from "../telemetry/log.ts"
import type { DatabaseSettings } from "./database.ts"

/** What a process does: the public gateway, the engine's internal listener, the operators' listener. */
export type ProcessRole = "gateway" | "authz" | "control"

/** What a process is started with. */
export interface RuntimeSettings {
  readonly database: DatabaseSettings
  readonly roles: readonly ProcessRole[]
  /** Where operators are listened to, and without that role health and metrics are served; the role `control` needs the token. undefined: nowhere. */
  readonly control: { readonly listen: Address; readonly token?: string } | undefined
  /** Names that the engine's and the control listener answer to besides IP addresses, `localhost` and the machine's name; none when absent. */
  readonly hosts?: readonly string[]
  /** A plan to serve from a file, instead of the newest of the history. */
  readonly plan?: Plan
  /** Where `env()` of plans reads. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Folder that file names in plans are relative to. */
  readonly cwd: string
  readonly version: string
  readonly log: Log
  /** Whether requests are logged, one line each: on standard output, or to a log of the caller's. */
  readonly accessLog: boolean | Log
  /** Brings the database's schema up to this version first. For an embedded database, which nobody else could open meanwhile. */
  readonly migrate?: boolean
  /** Lets the engine's API take and give models as text. The compiler has it. */
  readonly modelText?: ModelText
  /** Where usage waits while the database is away; `.sallyport/spool` in `cwd` when absent. */
  readonly spoolFolder?: string
  /** Whether the plan served is kept on disk, for a start while the database is away; true when absent. */
  readonly keepPlan?: boolean
  /** How long `close` waits for requests under way; 10,000 when absent. */
  readonly graceMs?: number
}

/** A running process. */
export interface Runtime {
  /** Of the control listener, or what a process without that role has at its address. */
  readonly controlUrl: string | undefined
  addresses(): { readonly gateway: readonly string[]; readonly authz: readonly string[] }
  /** Applies a plan over the one that is running now. */
  apply(plan: Plan, author: Author): Promise<ApplyOutcome>
  /** Writes tuples to a declared store that never had any; answers how many were written. */
  seed(store: string, tuples: readonly TupleKey[]): Promise<number>
  /** Serial of the plan served; null when none, or one from a file, is. */
  serial(): number | null
  /** Why it should get no traffic yet; empty when it is ready. */
  notReady(): Promise<readonly string[]>
  /** Takes nothing new, lets requests end (`graceMs` at most), closes everything. */
  close(): Promise<void>
}

/** The folder for what waits until the database is there. */
export function spoolOf({ cwd, spoolFolder }: RuntimeSettings): string {
  return spoolFolder ?? join(cwd, ".sallyport", "spool")
}
