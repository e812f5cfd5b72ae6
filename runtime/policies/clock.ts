/** The clocks of a gateway, and its timers. A gateway without a server has its own, in which hours pass at once. */
export interface Clock {
  /** The wall clock, in milliseconds since the epoch. */
  now(): number
  /** A clock that is never set back, in milliseconds. */
  monotonic(): number
  /** Calls `run` once, after so many milliseconds. The returned function cancels it. */
  after(ms: number, run: () => void): () => void
  /** As `after`, for what may never be needed: an alarm neither keeps the process running nor lets the time of a test pass. */
  alarm(ms: number, run: () => void): () => void
  /** A number from 0 to below 1, where requests must differ: waiting times, shares of traffic. */
  random(): number
}

/** The clocks of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  alarm(ms, run) {
    const timer = setTimeout(run, ms).unref()
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
}
