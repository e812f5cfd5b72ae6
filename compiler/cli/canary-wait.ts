import { setTimeout as sleep } from "node:timers/promises"
import type { CanaryAnswer, CanaryRecord } from "../../runtime/control/api.ts"
import { type ExitCode, exitCode } from "./command.ts"
import type { Io } from "./io.ts"
import { withProgress } from "./progress.ts"
import { expectOk, type Remote } from "./remote.ts"
import { canaryAnswerText } from "./views/canary.ts"

const askEveryMs = 1_000

/** Waits until the canary is over, or the time is, and prints how it is: `ok` when its plan serves all, `refused` when it ended otherwise, `notEverywhere` while it runs. */
export async function waitForCanary(
  io: Io,
  remote: Remote,
  { id }: CanaryRecord,
  waitMs: number,
): Promise<ExitCode> {
  const answer = await withProgress(io, "waiting for the canary", () => ended(remote, id, waitMs))
  io.out(canaryAnswerText(answer))
  const state = answer.canary?.id === id ? answer.canary.state : "superseded"
  if (state === "running") return exitCode.notEverywhere
  return state === "promoted" ? exitCode.ok : exitCode.refused
}

async function ended(remote: Remote, id: string, waitMs: number): Promise<CanaryAnswer> {
  const end = performance.now() + waitMs
  for (;;) {
    const answer = expectOk<CanaryAnswer>(await remote.request("GET", "/v1/canary"))
    const left = end - performance.now()
    if (answer.canary?.id !== id || answer.canary.state !== "running" || left <= 0) return answer
    await sleep(Math.min(askEveryMs, left))
  }
}
