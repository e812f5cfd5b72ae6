import type { Io } from "./io.ts"

/** What takes less is not worth a line that comes and goes. */
const quietMs = 150

/** Says on a terminal what is being done, for as long as it is; a pipe sees nothing of it. */
export async function withProgress<T>(io: Io, doing: string, work: () => Promise<T>): Promise<T> {
  if (!io.progress) return work()
  let shown = false
  const timer = setTimeout(() => {
    shown = true
    io.err(`${doing} …`)
  }, quietMs)
  try {
    return await work()
  } finally {
    clearTimeout(timer)
    if (shown) io.err("\r\u001b[2K")
  }
}
