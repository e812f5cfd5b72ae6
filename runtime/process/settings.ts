import { join } from "node:path"
import type { ModelText } from "../authz/ports.ts"
import type { TupleKey } from "../check/ports.ts"
import type { Author } from "../control/api.ts"
import type { ApplyOutcome, PlanReview } from "../control/ports.ts"
import type { Plan } from "../plan/plan.ts"
import type { Address } from "../plan/resources.ts"
import type { Log } from "../telemetry/log.ts"
import type { LogNames } from "../telemetry/log-names.ts"
import type { DatabaseSettings } from "./database.ts"
import type { WebhookSettings } from "./webhooks.ts"

/** Roles of a process: the public gateway, the engine's internal listener, the control listener, the developer portal. */
export type ProcessRole = "gateway" | "authz" | "control" | "portal"

/** How a process is started. */
export interface RuntimeSettings {
  readonly database: DatabaseSettings
  readonly roles: readonly ProcessRole[]
  /**
   * Address of the control listener; without that role, of health and metrics. The role `control` needs the token. Undefined: no listener.
   */
  readonly control: { readonly listen: Address; readonly token?: string } | undefined
  /**
   * Host names that the engine's and the control listener accept in addition to IP addresses, `localhost` and the machine's name;
   * absent: none.
   */
  readonly hosts?: readonly string[]
  /** A plan to run from a file, instead of the newest one of the history. */
  readonly plan?: Plan
  /** Values of `env()` in plans. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** File names in plans are relative to this folder. */
  readonly cwd: string
  readonly version: string
  readonly log: Log
  /** Whether this process orders certificates from ACME (default: true). */
  readonly ordersCertificates?: boolean
  /** Whether to log requests, one line each: on standard output, or to the caller's log. */
  readonly accessLog: boolean | Log
  /** Names of the fields in the log of requests, if that is on standard output (default: those of the manual). */
  readonly logNames?: LogNames
  /** Migrates the database to this version first. For an embedded database, which no other process can open. */
  readonly migrate?: boolean
  /** Lets the engine's API read and write models as text. The compiler provides it. */
  readonly modelText?: ModelText
  /** Folder for usage while the database is unavailable (default: `.sallyport/spool` in `cwd`). */
  readonly spoolFolder?: string
  /** Whether to keep the running plan on disk, for a start while the database is unavailable (default: true). */
  readonly keepPlan?: boolean
  /** Where rows of the audit log are copied: `stdout`, `file:PATH` or an HTTP URL. Absent: nowhere. */
  readonly auditSinks?: readonly string[]
  /** Bearer token for the URLs among them. */
  readonly auditToken?: string
  /** Finds what plans change, for rules of `change`. The compiler provides it. */
  readonly reviewPlans?: PlanReview
  /** Whether the control API enforces the `change` rules of plans (default: true). `dev` applies every save. */
  readonly enforcesChangeRules?: boolean
  /** Services that get messages about changes. Absent: none. */
  readonly webhooks?: WebhookSettings
  /** How long `close` waits for requests in progress, in milliseconds (default: 10,000). */
  readonly graceMs?: number
}

/** A running process. */
export interface Runtime {
  /** URL of the control listener, or of health and metrics in a process without that role. */
  readonly controlUrl: string | undefined
  addresses(): { readonly gateway: readonly string[]; readonly authz: readonly string[] }
  /** Addresses of the developer portal, as `host:port`; absent: the process has none. */
  portalAddresses?(): readonly string[]
  /** Applies a plan on top of the one that is running now. */
  apply(plan: Plan, author: Author): Promise<ApplyOutcome>
  /** Writes tuples to a declared store that has never had any. Returns their number. */
  seed(store: string, tuples: readonly TupleKey[]): Promise<number>
  /** Serial of the running plan; null without a plan, or with one from a file. */
  serial(): number | null
  /** Reasons why it must not get traffic yet; empty when it is ready. */
  notReady(): Promise<readonly string[]>
  /** Accepts no new requests, waits for those in progress (at most `graceMs`), then closes everything. */
  close(): Promise<void>
}

/** The folder for data that waits for the database. */
export function spoolOf({ cwd, spoolFolder }: RuntimeSettings): string {
  return spoolFolder ?? join(cwd, ".sallyport", "spool")
}
