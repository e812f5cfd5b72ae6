import { isSchemaFault } from "../store/fault.ts"

/** Why a process cannot start, for whoever started it: one sentence what and why, one what to do. */
export class StartError extends Error {
  override readonly name = "StartError"
  readonly help: string | undefined

  constructor(message: string, help?: string) {
    super(message)
    this.help = help
  }
}

/** The error to start with, in words for the person who starts it where that person can mend it. */
export function startErrorOf(error: unknown): unknown {
  if (error instanceof StartError) return error
  if (error instanceof Error && (error.name === "PlanRefused" || error.name === "SourceUnavailable"))
    return new StartError(error.message)
  if (isSchemaFault(error))
    return new StartError(
      "the database does not have the schema of this version",
      "Run `sallyport migrate` once, with the same SALLYPORT_DATABASE_URL.",
    )
  return error
}
