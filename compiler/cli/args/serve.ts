import { CliError, type CommandLine } from "../command.ts"

/** What one process can do. */
export const roles = ["gateway", "authz", "control"] as const
export type ServeRole = (typeof roles)[number]

export interface ServeArgs {
  /** A plan file that is served instead of the newest plan of the database. */
  readonly plan: string | undefined
  readonly roles: readonly ServeRole[]
}

export const serveLine: CommandLine<ServeArgs> = {
  name: "serve",
  summary: "run gateway, engine and control listener with the plan that was applied last",
  options: [
    ["--plan <file>", "serve this plan, not the newest of the database"],
    ["--only <roles>", "gateway, authz, control: some of them, separated by commas"],
  ],
  examples: [
    ["SALLYPORT_DATABASE_URL=postgres://sallyport@db/sallyport sallyport serve", "everything in one process"],
    ["sallyport serve --only gateway", "one of many gateways; another process has the control listener"],
  ],
  parse: (_, options) => ({
    plan: typeof options["plan"] === "string" ? options["plan"] : undefined,
    roles: readRoles(options["only"]),
  }),
}

function readRoles(only: unknown): readonly ServeRole[] {
  if (only === undefined) return roles
  const words = String(only)
    .split(",")
    .map((word) => word.trim())
  const unknown = words.find((word) => !roles.some((role) => role === word))
  if (unknown !== undefined)
    throw new CliError(`--only does not know \`${unknown}\``, `Roles are ${roles.join(", ")}.`)
  return roles.filter((role) => words.includes(role))
}
