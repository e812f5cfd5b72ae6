import { once } from "node:events"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { closeServer } from "../http1/close-server.ts"
import type { Address } from "../plan/resources.ts"
import type { AuthzApi } from "./api.ts"
import { buildServer } from "./server.ts"

/** What to open. */
export interface AuthzOptions {
  /** Shared by all listeners of a process, so that they have one view of stores and one queue of writes. */
  readonly api: AuthzApi
  /** Where to listen, each with a listener of its own; port 0 takes a free one. */
  readonly listen: readonly Address[]
  /** Whether requests are answered yet, or still: before and after, they get 503. Always, when absent. */
  readonly serving?: (() => boolean) | undefined
}

/** Open listeners. */
export interface AuthzListeners {
  /** In the order asked for, with the real ports. */
  readonly addresses: readonly Address[]
  /** Takes no new connections, answers what runs and comes on those there are, and ends, at the latest after `graceMs` (0 when absent). */
  close(graceMs?: number): Promise<void>
}

/**
 * Opens the HTTP API of the engine: OpenFGA's, and what it has more. It asks who calls where the plan says so (`AuthzParts.access`);
 * where nobody is asked, it belongs on an internal address.
 * @throws the system's error (`EADDRINUSE`, `EACCES` …, with `address` and `port`) when one can't be opened; then none is.
 */
export async function startAuthz(options: AuthzOptions): Promise<AuthzListeners> {
  const servers: Server[] = []
  const close = async (graceMs = 0) => {
    await Promise.all(servers.map((server) => closeServer(server, graceMs)))
  }
  const addresses: Address[] = []
  try {
    for (const { host, port } of options.listen) {
      const server = buildServer(options.api, host, options.serving)
      server.listen({ host, port })
      await once(server, "listening")
      servers.push(server)
      addresses.push({ host, port: (server.address() as AddressInfo).port })
    }
  } catch (error) {
    await close()
    throw error
  }
  return { addresses, close }
}
