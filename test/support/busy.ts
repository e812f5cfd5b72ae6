import { availableParallelism, loadavg } from "node:os"

/**
 * A time limit that holds as it stands where the machine has nothing else to do, and grows with the load per core where it has.
 * For assertions that something is prompt: they stay strict on a quiet machine and do not fail by chance on a busy one.
 */
export function promptlyMs(ms: number): number {
  return ms * Math.max(1, (loadavg()[0] ?? 0) / availableParallelism())
}

/**
 * CPU time of `run` in milliseconds, for assertions that something costs less than `limitMs`: the least of at most five attempts, up to the first
 * one below the limit. On a busy machine, one attempt takes up to twice its CPU time, because processes share caches and cores.
 */
export function leastCpuMs(run: () => void, limitMs: number): number {
  let least = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 5 && least >= limitMs; attempt += 1) {
    const before = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1_000)
  }
  return least
}
