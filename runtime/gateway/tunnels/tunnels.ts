import type { OpenTunnel } from "./tunnel-keeper.ts"

/** A tunnel and the route that opened it. */
interface Kept {
  readonly tunnel: OpenTunnel
  readonly routeKey: string
  readonly closeWhenRemoved: boolean
}

/** The tunnels of a process. They outlive plans: a new plan does not close them, unless their route says so. */
export class Tunnels {
  readonly #open = new Map<OpenTunnel, Kept>()

  get size(): number {
    return this.#open.size
  }

  add(open: Kept): void {
    this.#open.set(open.tunnel, open)
  }

  remove(tunnel: OpenTunnel): void {
    this.#open.delete(tunnel)
  }

  /** A new plan is in use: closes tunnels whose routes are gone, if the routes asked for it. */
  keep(routeKeys: (key: string) => boolean): void {
    for (const { tunnel, routeKey, closeWhenRemoved } of [...this.#open.values()])
      if (closeWhenRemoved && !routeKeys(routeKey)) tunnel.close()
  }

  /** Closes all remaining tunnels. */
  closeAll(): void {
    for (const tunnel of [...this.#open.keys()]) tunnel.close()
  }
}
