import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { inject } from "vitest"
import type { SharedDatabase } from "./shared-databases.ts"

/** Asks the run for a database that all test files share; undefined where a file runs without our vitest configuration. */
export async function askShared(name: SharedDatabase): Promise<string | undefined> {
  const path = inject("sharedDatabases") as string | undefined
  if (path === undefined) return undefined
  const socket = connect(path)
  socket.end(name)
  const response = JSON.parse(await text(socket)) as { value?: string; error?: string }
  if (response.value === undefined) throw new Error(response.error)
  return response.value
}
