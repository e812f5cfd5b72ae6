import type { Runtime, RuntimeSettings } from "../../runtime/process/settings.ts"
import type { ParentRuntime, ParentSettings } from "../../runtime/workers/parent.ts"
import { CliError } from "./command.ts"

/** The exports of `runtime/main.ts`, loaded when a command needs them: the help must not load a server. */
export const loadRuntime = () => import("../../runtime/main.ts")

/** Starts the runtime, which also accepts models as text and compares plans. An error that the user can fix is a `CliError`. */
export async function startRuntime(settings: RuntimeSettings): Promise<Runtime> {
  const [main, { modelText }, { reviewPlans }] = await Promise.all([
    loadRuntime(),
    import("../model/model-text.ts"),
    import("./review-plans.ts"),
  ])
  return main.startRuntime({ modelText, reviewPlans, ...settings }).catch(rethrowForPeople)
}

/** Starts a parent with its workers. An error that the user can fix is a `CliError`. */
export async function startParent(settings: ParentSettings): Promise<ParentRuntime> {
  const [workers, { reviewPlans }] = await Promise.all([
    import("../../runtime/workers/parent.ts"),
    import("./review-plans.ts"),
  ])
  return workers.startParent({ reviewPlans, ...settings }).catch(rethrowForPeople)
}

/** Runs as a worker of a parent, until the parent ends it. */
export async function runWorker(settings: RuntimeSettings): Promise<void> {
  const [workers, { modelText }] = await Promise.all([
    import("../../runtime/workers/worker.ts"),
    import("../model/model-text.ts"),
  ])
  await workers.runWorker({ modelText, ...settings }).catch(rethrowForPeople)
}

/** Errors with a message for the user. */
const forPeople = ["StartError", "DevError", "MigrationError"]

/** Rethrows an error; if the user can fix it, as a `CliError`. Compares names, because importing the classes would load their modules. */
export function rethrowForPeople(error: unknown): never {
  if (error instanceof Error && forPeople.includes(error.name)) {
    throw new CliError(error.message, (error as { help?: string }).help)
  }
  if (error instanceof Error && error.name === "SourceUnavailable") throw databaseErrorOf(error.message)
  throw error
}

const special = "Write special characters of the password as %XX, for example %40 for @."

/** What to do, by SQLSTATE or Node's code. */
const databaseHelp: Readonly<Record<string, string>> = {
  "28P01": `Check user and password in SALLYPORT_DATABASE_URL. ${special}`,
  "28000":
    "Check the user in SALLYPORT_DATABASE_URL, and the lines of pg_hba.conf for this user and address.",
  "3D000": "Create it with `CREATE DATABASE name OWNER user`, then run `sallyport migrate`.",
  "42501":
    "Make the user in SALLYPORT_DATABASE_URL the owner of the database, or run `GRANT CREATE ON DATABASE name TO user`.",
  ENOTFOUND: `Check the host in SALLYPORT_DATABASE_URL. ${special}`,
  ECONNREFUSED:
    "Check that PostgreSQL runs and listens there, and check host and port in SALLYPORT_DATABASE_URL.",
}
const anyHelp = "Check that it runs and accepts these credentials, and check SALLYPORT_DATABASE_URL."

/** A database that refuses is not unavailable: the remedies differ. The code is the last word of the message, in brackets. */
function databaseErrorOf(message: string): CliError {
  const code = /\((\w+)\)$/.exec(message)?.[1] ?? ""
  const isReply = /^(?!57P|08)(?=.*\d)[0-9A-Z]{5}$/.test(code)
  const effect = isReply ? "the database refuses" : "the database is unavailable"
  return new CliError(`${effect}: ${message}`, databaseHelp[code] ?? anyHelp)
}
