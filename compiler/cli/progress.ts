import type { Io } from "./io.ts"

/** Shorter work shows no line, to avoid flicker. */
const quietMs = 150

/** Shows on a terminal what is being done until it is finished. A pipe gets nothing. */
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
