import { CliError, type CommandLine, type OptionValues } from "../command.ts"
import { type HostPort, readHostPort } from "../host-port.ts"
import { configOption, type ProjectArgs, readProject } from "./validate.ts"

export interface DevArgs {
  readonly project: ProjectArgs
  /** Where the development identity provider listens. */
  readonly identity: HostPort
  /** Where the two sample backends listen: orders, and orders' second version with the catalog. */
  readonly backends: readonly [HostPort, HostPort]
  readonly verbose: boolean
}

const identityDefault = "127.0.0.1:8081"
const backendsDefault = "127.0.0.1:9001,127.0.0.1:9002"

export const devLine: CommandLine<DevArgs> = {
  name: "dev",
  summary: "run everything here, with a database, an identity provider and backends to try; apply on save",
  options: [
    configOption,
    ["--identity <address>", `the identity provider's address, ${identityDefault} when not said`],
    ["--backends <addresses>", `the two sample backends' addresses, ${backendsDefault} when not said`],
    ["--verbose", "a line for every request"],
  ],
  examples: [
    ["sallyport dev", "what `npm start` does; ends with Ctrl-C"],
    [
      "SALLYPORT_DATABASE_URL=postgres://postgres@127.0.0.1/postgres sallyport dev",
      "on PostgreSQL instead of the embedded database",
    ],
  ],
  parse: (_, options) => ({
    project: readProject(options),
    identity: readHostPort(text(options, "identity") ?? identityDefault, "--identity"),
    backends: readBackends(text(options, "backends") ?? backendsDefault),
    verbose: options["verbose"] === true,
  }),
}

function readBackends(given: string): readonly [HostPort, HostPort] {
  const [first, second, ...more] = given
    .split(",")
    .map((address) => readHostPort(address.trim(), "--backends"))
  if (first !== undefined && second !== undefined && more.length === 0) return [first, second]
  throw new CliError("--backends takes two addresses", `For example: --backends ${backendsDefault}`)
}

function text(options: OptionValues, name: string): string | undefined {
  const value = options[name]
  return typeof value === "string" ? value : undefined
}
