import { type Listener, openListener } from "../http/server/listener.ts"
import type { Address } from "../plan/resources.ts"
import type { AuthzApi } from "./api.ts"
import { engineListener } from "./server.ts"

/** What to open. */
export interface AuthzOptions {
  /** Shared by all listeners of a process, so that they have one view of stores and one queue of writes. */
  readonly api: AuthzApi
  /** Where to listen, each with a listener of its own; port 0 takes a free one. */
  readonly listen: readonly Address[]
  /** Whether requests are answered yet, or still, on connections that reached `local`, an address of this machine: before and after, they get 503. Always, when absent. */
  readonly serving?: ((local: string | undefined) => boolean) | undefined
  /** Listeners that give up their address where it is in the way; none when absent. */
  readonly leaving?: readonly Listener[] | undefined
}

/** Open listeners. */
export interface AuthzListeners {
  /** In the order asked for, with the real ports. */
  readonly addresses: readonly Address[]
  readonly listeners: readonly Listener[]
  /** Takes no new connections, answers what runs and comes on those there are, and ends, at the latest after `graceMs` (0 when absent). */
  close(graceMs?: number): Promise<void>
}

/**
 * Opens the HTTP API of the engine: OpenFGA's, and what it has more. It asks who calls where the plan says so (`AuthzParts.access`);
 * where nobody is asked, it belongs on an internal address.
 * @throws the system's error (`EADDRINUSE`, `EACCES` …, with `address` and `port`) when one can't be opened; then none is.
 */
export async function startAuthz(options: AuthzOptions): Promise<AuthzListeners> {
  const { api, serving, leaving = [] } = options
  const listeners: Listener[] = []
  const close = async (graceMs = 0) => {
    await Promise.all(listeners.map((listener) => listener.close(graceMs)))
  }
  try {
    for (const address of options.listen)
      listeners.push(await openListener(address, { ...engineListener(api, address.host, serving), leaving }))
  } catch (error) {
    await close()
    throw error
  }
  return { addresses: listeners.map(({ opened }) => opened.address), listeners, close }
}
