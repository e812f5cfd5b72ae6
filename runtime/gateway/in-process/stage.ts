import type { PlayedConnection } from "./played-connection.ts"
import type { VirtualClock } from "./virtual-clock.ts"
import type { BackendAnswer, BackendRequest, FieldLine } from "./world.ts"

/** Plays the servers, and records what they were asked. */
export interface Stage {
  readonly clock: VirtualClock
  play(request: BackendRequest): BackendAnswer | Promise<BackendAnswer>
  /** A backend has accepted a WebSocket on this connection. */
  upgraded(connection: PlayedConnection): void
}

/**
 * Delivers what a backend responds when its time has come; a silent one never does. Returns what ends the wait; undefined: it was delivered at once.
 */
export function deliverInTime(
  answer: BackendAnswer,
  clock: VirtualClock,
  deliver: (answer: BackendAnswer) => void,
): (() => void) | undefined {
  if ("failure" in answer && answer.failure === "silent") return clock.hold()
  if ((answer.delayMs ?? 0) > 0) return clock.after(answer.delayMs ?? 0, () => deliver(answer))
  deliver(answer)
  return undefined
}

/** The field lines of names and values that alternate, with lower-case names. */
export function linesOf(fields: readonly string[]): FieldLine[] {
  const lines: FieldLine[] = []
  for (let at = 0; at < fields.length; at += 2)
    lines.push([(fields[at] as string).toLowerCase(), fields[at + 1] as string])
  return lines
}
