import { setTimeout as sleep } from "node:timers/promises"

/**
 * Waits until the check holds. A rejected check counts as not holding yet, because servers refuse connections while they start or fail over.
 * @returns how long it took, in milliseconds.
 * @throws when the check does not hold within the time; the cause is the last rejection.
 */
export async function until(holds: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<number> {
  const began = performance.now()
  let cause: unknown
  for (;;) {
    try {
      if (await holds()) return performance.now() - began
      cause = undefined
    } catch (error) {
      cause = error
    }
    if (performance.now() - began > withinMs) throw new Error(`not within ${withinMs} ms`, { cause })
    await sleep(5)
  }
}
