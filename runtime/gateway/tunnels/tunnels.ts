import type { OpenTunnel } from "./tunnel-keeper.ts"

/** A tunnel and the route it was opened by. */
interface Kept {
  readonly tunnel: OpenTunnel
  readonly routeKey: string
  readonly closeWhenRemoved: boolean
}

/** The tunnels of a process. They outlive plans: applying one leaves them alone, unless their route says otherwise. */
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

  /** A new plan serves: ends tunnels of routes that are gone, where these wanted it. */
  keep(routeKeys: (key: string) => boolean): void {
    for (const { tunnel, routeKey, closeWhenRemoved } of [...this.#open.values()])
      if (closeWhenRemoved && !routeKeys(routeKey)) tunnel.close()
  }

  /** Ends all that are left. */
  closeAll(): void {
    for (const tunnel of [...this.#open.keys()]) tunnel.close()
  }
}
