import { openSync, readSync } from "node:fs"

const stat = openSync(`/proc/self/task/${process.pid}/schedstat`, "r")
const line = Buffer.alloc(128)

/** Milliseconds the main thread has been on a processor: other programs and other threads make no turn longer. */
function ownMs(): number {
  const length = readSync(stat, line, 0, line.length, 0)
  return Number.parseInt(line.toString("latin1", 0, length), 10) / 1e6
}

/** Runs `work` and answers the longest turn of the event loop meanwhile, in milliseconds. */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let before = ownMs()
  let isOn = true
  const beat = (): void => {
    const now = ownMs()
    longest = Math.max(longest, now - before)
    before = now
    if (isOn) setImmediate(beat)
  }
  setImmediate(beat)
  await work()
  isOn = false
  await new Promise((resolve) => setImmediate(resolve))
  return longest
}
