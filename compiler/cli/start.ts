import type { Runtime, RuntimeSettings } from "../../runtime/process/settings.ts"
import { CliError } from "./command.ts"

/** What `runtime/main.ts` offers. Loaded when a command needs it: the help must not pay for a server. */
export const loadRuntime = () => import("../../runtime/main.ts")

/** Starts the runtime, which takes models as text too. What a person can mend is a `CliError`. */
export async function startRuntime(settings: RuntimeSettings): Promise<Runtime> {
  const [main, { modelText }] = await Promise.all([loadRuntime(), import("../model/model-text.ts")])
  return main.startRuntime({ modelText, ...settings }).catch(rethrowForPeople)
}

/** Errors whose message is a sentence for whoever started the process. */
const forPeople = ["StartError", "DevError", "MigrationError"]

/**
 * Passes an error on; those that a person can mend as a `CliError`. By name, because importing the classes would load what
 * they belong to.
 */
export function rethrowForPeople(error: unknown): never {
  if (error instanceof Error && forPeople.includes(error.name)) {
    throw new CliError(error.message, (error as { help?: string }).help)
  }
  if (error instanceof Error && error.name === "SourceUnavailable") {
    throw new CliError(
      `the database does not answer: ${error.message}`,
      "Check that it runs and accepts these credentials, and check SALLYPORT_DATABASE_URL.",
    )
  }
  throw error
}
