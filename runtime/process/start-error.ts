import { isSchemaFault } from "../store/fault.ts"

/** Why a process cannot start, for the person who starts it: one sentence with the cause, one with the remedy. */
export class StartError extends Error {
  override readonly name = "StartError"
  readonly help: string | undefined

  constructor(message: string, help?: string) {
    super(message)
    this.help = help
  }
}

/** Replaces errors that the person who starts the process can fix with a readable one. */
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
