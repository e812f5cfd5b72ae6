import { readFileSync } from "node:fs"
import { ForksPoolWorker, type PoolOptions, type PoolTask } from "vitest/node"

/** Above this resident size a process gets no further test file: it ends, and the next file gets a new process. */
const enoughBytes = 320 * 2 ** 20

/**
 * Vitest's pool of processes, each of which runs one file after the other as long as it is small. A process only grows: the modules of every
 * file stay loaded, and V8 gives memory back late. One process for a third of all files grew to 750 MB, of which the tests used 140 MB.
 */
export const renewedForks = {
  name: "renewed-forks",
  createPoolWorker: (options: PoolOptions) => new RenewedFork(options),
}

class RenewedFork extends ForksPoolWorker {
  override name = renewedForks.name

  /** Vitest asks before each file that a running process could take, where files share a process. */
  canReuse(_task?: PoolTask): boolean {
    return residentBytes(this["fork"].pid) < enoughBytes
  }
}

/** 0 where the system has no `/proc`: there the processes are not renewed. */
function residentBytes(pid: number | undefined): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1_024
  } catch {
    return 0
  }
}
