const everyMs = 200
/** Editors write in several steps, so wait until the file is complete. */
const settleMs = 100

/**
 * Calls `onChange`, one call at a time, whenever `changed` returns true. It keeps the process alive until the returned function is called.
 * It polls instead of subscribing to events: editors that replace files, network mounts and container volumes lose or duplicate events, and
 * polling about ten files costs microseconds.
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
    // Poll less often for projects of thousands of files, so that polling uses at most about two percent of the time.
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
