import { setTimeout as sleep } from "node:timers/promises"
import type { PlanRecord, ProcessStatus, StatusAnswer } from "../../runtime/control/api.ts"
import { CliError, type ExitCode, exitCode, type OptionValues } from "./command.ts"
import type { Io } from "./io.ts"
import { readDuration } from "./options.ts"
import { withProgress } from "./progress.ts"
import { expectOk, type Remote } from "./remote.ts"
import { table } from "./views/table.ts"

/** Longest wait on a terminal, where somebody can watch. */
const waitDefaultMs = 30_000
const askEveryMs = 150

/** The options of the commands that apply a plan. */
export const waitOptions = [
  [
    "--wait <duration>",
    "how long to wait until every process serves the plan, e.g. 30s or 2m (default: 30s on a terminal, otherwise no wait); exit 4 when one does not",
  ],
  ["--no-wait", "return as soon as the plan is stored and served by one process"],
] as const

/** Reads `--wait` and `--no-wait`: milliseconds; 0: do not wait; undefined: neither was given. */
export function readWait({ wait }: OptionValues): number | undefined {
  if (wait === undefined || wait === true) return undefined
  if (wait === false) return 0
  return readDuration(String(wait), "--wait")
}

/**
 * Waits until all processes serve the applied plan, one of them refuses it, or the time is over, and prints what each does. `notEverywhere`
 * when a process does not serve it.
 * @throws CliError with the same code when the processes cannot be asked
 */
export async function waitForFleet(
  io: Io,
  remote: Remote,
  { serial }: PlanRecord,
  waitMs: number | undefined,
): Promise<ExitCode> {
  const limitMs = waitMs ?? (io.interactive ? waitDefaultMs : 0)
  if (limitMs === 0) return exitCode.ok
  const processes = await withProgress(io, "waiting for all processes", () =>
    settled(remote, serial, limitMs),
  ).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error
    const message = `the plan is applied, but which processes serve it is unknown: ${error.message}`
    throw new CliError(message, "Run `sallyport status` later.", exitCode.notEverywhere)
  })
  const behind = processes.filter((each) => !serves(each, serial))
  if (behind.length === 0) {
    io.out(processes.length === 1 ? "" : `All ${processes.length} processes serve it.\n`)
    return exitCode.ok
  }
  io.out(`${processes.length - behind.length} of ${processes.length} processes serve it. The others:\n`)
  const rows = behind.map((each) => [
    `${each.host}:${each.pid}`,
    each.roles.join(","),
    each.serial === null ? "none" : `serial ${each.serial}`,
    whyOf(each, serial),
  ])
  io.out(table(["PROCESS", "ROLES", "SERVES", "REASON"], rows))
  io.err("They keep what they serve and try again. `sallyport status` shows their state.\n")
  return exitCode.notEverywhere
}

/** The processes when all have decided, or when the time is over. */
async function settled(remote: Remote, serial: number, limitMs: number): Promise<readonly ProcessStatus[]> {
  const end = performance.now() + limitMs
  for (;;) {
    const { processes } = expectOk<StatusAnswer>(await remote.request("GET", "/v1/status"))
    const left = end - performance.now()
    const decided = processes.every((each) => serves(each, serial) || each.refusedSerial === serial)
    if ((decided && processes.length > 0) || left <= 0) return processes
    await sleep(Math.min(askEveryMs, left))
  }
}

/** A newer plan may have been applied in the meantime. */
function serves(process: ProcessStatus, serial: number): boolean {
  return process.serial !== null && process.serial >= serial
}

function whyOf({ error, refusedSerial, seenAt, state }: ProcessStatus, serial: number): string {
  if (refusedSerial === serial && error !== null) return error
  if (state === "draining") return "it is ending"
  return error ?? `no report that it took the plan; its last report is from ${seenAt}`
}
