import type { Runtime, RuntimeSettings } from "../../runtime/process/settings.ts"
import { CliError } from "./command.ts"

/** The exports of `runtime/main.ts`, loaded when a command needs them: the help must not load a server. */
export const loadRuntime = () => import("../../runtime/main.ts")

/** Starts the runtime, which also accepts models as text. An error that the user can fix is a `CliError`. */
export async function startRuntime(settings: RuntimeSettings): Promise<Runtime> {
  const [main, { modelText }] = await Promise.all([loadRuntime(), import("../model/model-text.ts")])
  return main.startRuntime({ modelText, ...settings }).catch(rethrowForPeople)
}

/** Errors with a message for the user. */
const forPeople = ["StartError", "DevError", "MigrationError"]

/** Rethrows an error; if the user can fix it, as a `CliError`. Compares names, because importing the classes would load their modules. */
export function rethrowForPeople(error: unknown): never {
  if (error instanceof Error && forPeople.includes(error.name)) {
    throw new CliError(error.message, (error as { help?: string }).help)
  }
  if (error instanceof Error && error.name === "SourceUnavailable") {
    throw new CliError(
      `the database is unavailable: ${error.message}`,
      "Check that it runs and accepts these credentials, and check SALLYPORT_DATABASE_URL.",
    )
  }
  throw error
}
