import { CliError, type CommandLine, command } from "../command.ts"
import type { DevSettings } from "../dev/parts.ts"
import { type HostPort, readHostPort } from "../host-port.ts"
import { configOption, type ProjectArgs, readProject, textOf } from "../options.ts"
import { demandEntry } from "../project.ts"

interface DevArgs extends DevSettings {
  readonly project: ProjectArgs
}

const identityDefault = "127.0.0.1:8081"
const backendsDefault = "127.0.0.1:9001,127.0.0.1:9002"

const devLine: CommandLine<DevArgs> = {
  options: [
    configOption,
    ["--identity <address>", `address of the identity provider (default: ${identityDefault})`],
    ["--backends <addresses>", `addresses of the two sample backends (default: ${backendsDefault})`],
    ["--verbose", "print a line for each request, not only for refused and failed ones"],
  ],
  examples: [
    ["sallyport dev", "the same as `npm start`; Ctrl-C ends it"],
    [
      "SALLYPORT_DATABASE_URL=postgres://postgres@127.0.0.1/postgres sallyport dev",
      "use PostgreSQL instead of the embedded database",
    ],
  ],
  parse: (_, options) => ({
    project: readProject(options),
    identity: readHostPort(textOf(options, "identity") ?? identityDefault, "--identity"),
    backends: readBackends(textOf(options, "backends") ?? backendsDefault),
    verbose: options["verbose"] === true,
  }),
}

/** Two, because the example has versions with different backends. */
function readBackends(given: string): readonly [HostPort, HostPort] {
  const [first, second, ...more] = given
    .split(",")
    .map((address) => readHostPort(address.trim(), "--backends"))
  if (first !== undefined && second !== undefined && more.length === 0) return [first, second]
  throw new CliError("--backends takes two addresses", `For example: --backends ${backendsDefault}`)
}

/** Prints a first line before it loads everything that `dev` runs, which takes most of the time of a start. */
export const dev = command(devLine, async (args, io) => {
  const startMs = performance.now()
  // Before anything starts: without gateway.conf no database must be made in this folder.
  demandEntry(io, args.project)
  io.out("Sallyport starts …\n")
  const { runDev } = await import("../dev/run.ts")
  return runDev(io, args.project, args, startMs)
})
