import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises"

/** Work between two pauses, in milliseconds. */
const sliceMs = 20

/** Time in milliseconds. */
interface Clock {
  now(): number
  /** 0: only lets messages be received. */
  sleep(ms: number): Promise<unknown>
}

const realClock: Clock = { now: () => performance.now(), sleep: (ms) => (ms > 0 ? sleep(ms) : nextTurn()) }

/** After each slice of work, pauses so long that the work takes no more than this part of the time: above 0, at most 1. */
export function pauseFor(share: number, clock = realClock): () => Promise<void> {
  let from = clock.now()
  return async () => {
    const worked = clock.now() - from
    if (worked < sliceMs) return
    await clock.sleep((worked * (1 - share)) / share)
    from = clock.now()
  }
}
