import { availableParallelism, loadavg } from "node:os"

/**
 * A time limit that holds as it stands where the machine has nothing else to do, and grows with the load per core where it has.
 * For assertions that something is prompt: they stay strict on a quiet machine and do not fail by chance on a busy one.
 */
export function promptlyMs(ms: number): number {
  return ms * Math.max(1, (loadavg()[0] ?? 0) / availableParallelism())
}
