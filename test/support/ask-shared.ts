import { connect } from "node:net"
import { text } from "node:stream/consumers"

/**
 * `postgres`: the connection string of a running server. `migrated`: the name of a migrated database on it, to be used as a template.
 * `embedded`: a folder with a migrated database, to be copied. `data`: the data folder of an empty server, to be copied.
 * `migratedData`: the same of a server whose database `postgres` is migrated.
 */
export type SharedDatabase = "postgres" | "migrated" | "embedded" | "data" | "migratedData"

/** Where the socket is by which all processes of a run ask for what they share. */
export const sharedVariable = "SALLYPORT_TEST_SHARED"

/** Asks the run for what all test files share; undefined outside of a run with our vitest configuration. */
export async function askShared(name: SharedDatabase): Promise<string | undefined> {
  const path = process.env[sharedVariable]
  if (path === undefined) return undefined
  const socket = connect(path)
  socket.end(name)
  const response = JSON.parse(await text(socket)) as { value?: string; error?: string }
  if (response.value === undefined) throw new Error(response.error)
  return response.value
}
