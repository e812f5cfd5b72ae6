import type { Plan, PlanBody } from "../../../runtime/plan/plan.ts"
import { schemeOf } from "../../../runtime/plan/resources.ts"
import { type ExitCode, exitCode } from "../command.ts"
import { consoleLinkOf } from "../console-link.ts"
import { databaseName } from "../database-settings.ts"
import type { Io } from "../io.ts"
import type { ProjectArgs } from "../options.ts"
import { withProgress } from "../progress.ts"
import { remoteAt } from "../remote.ts"
import { type DevAddresses, runningText, tryText } from "../views/dev.ts"
import { Closers } from "./closers.ts"
import { takeOwnFolder } from "./own-folder.ts"
import { type DevParts, type DevSettings, startParts } from "./parts.ts"
import { Session } from "./session.ts"
import { watch } from "./watch.ts"

/**
 * Starts all parts, shows their addresses and lines to try, and applies the project on save until the process is stopped. `startMs` is when
 * the command began, on the clock of `performance.now()`.
 */
export async function runDev(
  io: Io,
  project: ProjectArgs,
  settings: DevSettings,
  startMs: number,
): Promise<ExitCode> {
  const stopped = io.untilStopped()
  const closers = new Closers()
  const parting = sayWhenEnding(io, stopped)
  try {
    closers.add(await takeOwnFolder(io))
    const session = new Session(io, project)
    const { plan } = await session.compile()
    const parts = await withProgress(io, "starting", () => startParts(io, settings, plan?.plan, closers))
    const serial = plan === undefined ? undefined : await session.apply(parts, plan, true)
    const places = placesOf(io, parts, plan?.plan, await consoleOf(parts))
    io.out(runningText(places, parts.runtime.serial(), (performance.now() - startMs) / 1000))
    const greeter = new Greeter(io, parts, project.entry)
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
}

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

  /** Prints the requests to try once, after the first plan that serves. */
  greet(plan: Plan | undefined): void {
    if (plan !== undefined && this.#told !== "trials") {
      this.#told = "trials"
      this.#io.out(
        tryText(plan.plan, placesOf(this.#io, this.#parts, plan.plan), this.#parts.env, this.#entry),
      )
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

/** A link to the console; undefined when the plan turns the token of `dev` off. */
async function consoleOf({ controlUrl, token }: DevParts): Promise<string | undefined> {
  return consoleLinkOf(remoteAt(controlUrl, token)).then(
    ({ url }) => url,
    () => undefined,
  )
}

/** The addresses that listeners really have: a port may be given as 0. */
function placesOf(io: Io, parts: DevParts, plan: PlanBody | undefined, consoleUrl?: string): DevAddresses {
  const { gateway, authz } = parts.runtime.addresses()
  const urlsOf = (listen: Parameters<typeof schemeOf>[0] = [], addresses: readonly string[]) =>
    addresses.map((address) => `${schemeOf(listen, address)}://${address}`)
  return {
    gateway: urlsOf(plan?.gateway?.listen, gateway),
    authz: urlsOf(plan?.authz?.listen, authz),
    portal: urlsOf(plan?.portal?.listen, parts.runtime.portalAddresses?.() ?? []),
    control: parts.controlUrl,
    console: consoleUrl,
    identity: parts.identityUrl,
    backends: parts.backendUrls,
    database: databaseName(io),
  }
}
