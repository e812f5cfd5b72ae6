import type { Plan } from "../../../runtime/plan/plan.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { databaseName } from "../database-settings.ts"
import { Closers } from "../dev/closers.ts"
import { takeOwnFolder } from "../dev/own-folder.ts"
import { type DevParts, type DevSettings, startParts } from "../dev/parts.ts"
import { Session } from "../dev/session.ts"
import { watch } from "../dev/watch.ts"
import { type HostPort, readHostPort } from "../host-port.ts"
import type { Io } from "../io.ts"
import { configOption, type ProjectArgs, readProject, textOf } from "../options.ts"
import { withProgress } from "../progress.ts"
import { demandEntry } from "../project.ts"
import { type DevAddresses, runningText, tryText } from "../views/dev.ts"

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

function readBackends(given: string): readonly [HostPort, HostPort] {
  const [first, second, ...more] = given
    .split(",")
    .map((address) => readHostPort(address.trim(), "--backends"))
  if (first !== undefined && second !== undefined && more.length === 0) return [first, second]
  throw new CliError("--backends takes two addresses", `For example: --backends ${backendsDefault}`)
}

/** Starts all parts, shows their addresses and lines to try, and applies the project on save until the process is stopped. */
export const dev = command(devLine, async (args, io) => {
  const startMs = performance.now()
  demandEntry(io, args.project)
  const stopped = io.untilStopped()
  const closers = new Closers()
  const parting = sayWhenEnding(io, stopped)
  try {
    closers.add(await takeOwnFolder(io))
    const session = new Session(io, args.project)
    const { plan } = await session.compile()
    const parts = await withProgress(io, "starting", () => startParts(io, args, plan?.plan, closers))
    const serial = plan === undefined ? undefined : await session.apply(parts, plan, true)
    io.out(runningText(placesOf(io, parts), parts.runtime.serial(), (performance.now() - startMs) / 1000))
    const greeter = new Greeter(io, parts, args.project.entry)
    greeter.greet(serial === undefined ? undefined : plan)
    parting.started()
    closers.add(
      watch(
        () => session.changed(),
        async () => greeter.greet(await session.reload(parts)),
      ),
    )
    await stopped
    return exitCode.ok
  } finally {
    await closers.close()
  }
})

/** Shows the lines to try once, as soon as a plan supports them. */
class Greeter {
  readonly #io: Io
  readonly #parts: DevParts
  readonly #entry: string
  #told: "nothing" | "errors" | "trials" = "nothing"

  constructor(io: Io, parts: DevParts, entry: string) {
    this.#io = io
    this.#parts = parts
    this.#entry = entry
  }

  greet(plan: Plan | undefined): void {
    if (plan !== undefined && this.#told !== "trials") {
      this.#told = "trials"
      this.#io.out(tryText(plan.plan, placesOf(this.#io, this.#parts), this.#parts.env, this.#entry))
    } else if (this.#told === "nothing") {
      this.#told = "errors"
      this.#io.out(`\n${this.#entry} was not applied because of the errors above. Correct it and save.\n`)
    }
  }
}

/** A start cannot be interrupted, but ending the process meanwhile loses nothing. */
function sayWhenEnding(io: Io, stopped: Promise<void>): { started(): void } {
  let text = "\nstopping after the start has finished; press Ctrl-C again to stop at once\n"
  void stopped.then(() => io.out(text))
  return {
    started() {
      text = "\nending …\n"
    },
  }
}

function placesOf(io: Io, parts: DevParts): DevAddresses {
  return {
    ...parts.runtime.addresses(),
    control: parts.controlUrl,
    identity: parts.identityUrl,
    backends: parts.backendUrls,
    database: databaseName(io),
  }
}
