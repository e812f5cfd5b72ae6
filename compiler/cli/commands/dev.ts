import type { Plan } from "../../../runtime/plan/plan.ts"
import type { DevArgs } from "../args/dev.ts"
import { exitCode, type Work } from "../command.ts"
import { Closers } from "../dev/closers.ts"
import { takeOwnFolder } from "../dev/own-folder.ts"
import { type DevParts, startParts } from "../dev/parts.ts"
import { Session } from "../dev/session.ts"
import { watch } from "../dev/watch.ts"
import type { Io } from "../io.ts"
import { databaseName } from "../settings.ts"
import { runningText, tryText } from "../views/dev.ts"

/** Starts everything, shows what runs and what to try, and applies on save until it is asked to end. */
export const dev: Work<DevArgs> = async (args, io) => {
  const startMs = performance.now()
  const stopped = io.untilStopped()
  const closers = new Closers()
  try {
    closers.add(await takeOwnFolder(io))
    const session = new Session(io, args.project)
    const { plan } = await session.compile()
    const parts = await startParts(io, args, plan?.plan, closers)
    if (plan !== undefined) await session.apply(parts, plan, true)
    showStarted(io, parts, args, plan, (performance.now() - startMs) / 1000)
    closers.add(
      watch(
        () => session.changed(),
        () => session.reload(parts),
      ),
    )
    await stopped
    io.out("\nending …\n")
    return exitCode.ok
  } finally {
    await closers.close()
  }
}

function showStarted(io: Io, parts: DevParts, args: DevArgs, plan: Plan | undefined, seconds: number): void {
  const entry = args.project.entry
  const places = {
    ...parts.runtime.addresses(),
    control: parts.controlUrl,
    identity: parts.identityUrl,
    backends: parts.backendUrls,
    database: databaseName(io),
  }
  io.out(runningText(places, parts.runtime.serial(), seconds))
  if (plan === undefined)
    io.out(`\n${entry} has errors, shown above. Mend them and save: then it is applied.\n`)
  else io.out(tryText(plan.plan, places, parts.env, entry))
}
