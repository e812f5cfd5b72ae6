import type { Capability } from "../../../runtime/store/capabilities.ts"
import { type CommandLine, command, exitCode } from "../command.ts"
import { databaseName, databaseOf } from "../database-settings.ts"
import { formatOptions, readFormat } from "../options.ts"
import { print } from "../print.ts"
import { logLevelOf } from "../settings.ts"
import { loadRuntime, rethrowForPeople } from "../start.ts"
import { missingText } from "../views/missing-capability.ts"

interface MigrateArgs {
  readonly format: "text" | "json"
}

const migrateLine: CommandLine<MigrateArgs> = {
  options: formatOptions,
  examples: [
    [
      "SALLYPORT_DATABASE_URL=postgres://sallyport@db/sallyport sallyport migrate",
      "safe to run twice, or by several processes at once",
    ],
  ],
  parse: (_, options) => ({ format: readFormat(options, ["text", "json"]) }),
}

/** Safe to run by several processes at once: the database locks the schema meanwhile. */
export const migrate = command(migrateLine, async ({ format }, io) => {
  const level = logLevelOf(io, "info")
  const [{ migrateDatabase }, { createLog }] = await Promise.all([
    loadRuntime(),
    import("../../../runtime/telemetry/log.ts"),
  ])
  // Progress goes to standard error, only results go to standard output.
  const log = createLog({ level, stream: { write: (line) => io.err(line) } })
  let capabilities: readonly Capability[] = []
  const onCapabilities = (found: readonly Capability[]) => {
    capabilities = found
  }
  const settings = { database: databaseOf(io), log, onCapabilities }
  const applied = await migrateDatabase(settings).catch(rethrowForPeople)
  print(io, format, { database: databaseName(io), applied, capabilities }, migratedText)
  return exitCode.ok
})

interface Migrated {
  readonly database: string
  readonly applied: readonly string[]
  readonly capabilities: readonly Capability[]
}

function migratedText({ database, applied, capabilities }: Migrated): string {
  const what =
    applied.length === 0
      ? `${database} already has the schema of this version. Nothing to do.\n`
      : `${database}: applied ${applied.join(", ")}.\n`
  return what + capabilitiesText(capabilities)
}

/** What of it the server has; the embedded database has everything. */
function capabilitiesText(tried: readonly Capability[]): string {
  if (tried.length === 0) return ""
  const present = tried.filter(({ isPresent }) => isPresent).length
  const text = `The server has ${present} of the ${tried.length} capabilities that Sallyport uses.\n`
  return text + tried.map(missingText).join("")
}
