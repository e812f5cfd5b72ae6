const everyMs = 200
/** Editors write in steps: what is seen first may be half of it. */
const settleMs = 100

/**
 * Calls `onChange`, one call at a time, whenever `changed` says so; until it is ended, by what it answers, it keeps the process alive. Looks instead of being told: editors
 * that replace files, network mounts and containers' folders lose or double the system's events, and a look at some ten
 * files costs microseconds.
 */
export function watch(changed: () => boolean, onChange: () => Promise<void>): () => Promise<void> {
  let ended = false
  let timer: NodeJS.Timeout | undefined
  let turn = Promise.resolve()
  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
    })
  const look = async (): Promise<number> => {
    const start = performance.now()
    if (changed()) {
      await sleep(settleMs)
      if (!ended) await onChange()
      return everyMs
    }
    // A project of thousands of files is looked at less often, so that looking stays below a percent or so.
    return Math.max(everyMs, (performance.now() - start) * 50)
  }
  const run = async (): Promise<void> => {
    for (let pauseMs = everyMs; !ended; ) {
      await sleep(pauseMs)
      if (ended) return
      pauseMs = await look()
    }
  }
  turn = run()
  return async () => {
    ended = true
    clearTimeout(timer)
    await Promise.race([turn, Promise.resolve()])
  }
}
