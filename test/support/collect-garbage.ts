import { afterAll } from "vitest"

/** Above this resident size the garbage of a finished test file is collected: a process that stays small is not renewed, which costs the import of all modules again. */
const enoughBytes = 280 * 2 ** 20

afterAll(() => {
  if (process.memoryUsage.rss() > enoughBytes) (globalThis as { gc?: () => void }).gc?.()
})
