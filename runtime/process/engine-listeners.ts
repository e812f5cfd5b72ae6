import { AuthzApi } from "../authz/api.ts"
import type { AuthzParts } from "../authz/ports.ts"
import { startAuthz } from "../authz/server.ts"
import type { EngineDoor } from "../control/ports.ts"
import { FloodCounts } from "../http/server/http2/flood-guard.ts"
import type { Listener } from "../http/server/listener.ts"
import type { Plan } from "../plan/plan.ts"
import type { Address } from "../plan/resources.ts"
import type { EngineAccess } from "./engine-access.ts"
import { type Opening, PlanListeners } from "./plan-listeners.ts"

/**
 * The engine's HTTP listeners across plans. A new address answers 503 until its plan runs; otherwise it would admit the callers of the previous
 * plan.
 */
export class EngineListeners extends PlanListeners<EngineAccess> {
  readonly #api: AuthzApi
  readonly #awaitsPlan: boolean
  readonly #floods = new FloodCounts()

  /** `awaitsPlan`: requests on a new address wait until its plan runs, instead of getting 503. */
  constructor(
    parts: Omit<AuthzParts, "access">,
    access: EngineAccess,
    onError: (error: unknown) => void,
    awaitsPlan = false,
  ) {
    super(access, "the engine", onError)
    this.#awaitsPlan = awaitsPlan
    this.#api = new AuthzApi({ ...parts, access: () => access.access })
  }

  /** An address of this process' engine. A listener on all addresses is reached by the loopback address. */
  door(): EngineDoor | undefined {
    const listener = this.listeners.find(({ transport }) => transport.grpc !== true)
    if (listener === undefined) return undefined
    const scheme = listener.transport.tls === undefined ? "http" : "https"
    return { url: `${scheme}://${loopbackOf(listener.bound)}`, authorization: this.access.authorization }
  }

  /** Call it when the database lost commits, because models may be among them. */
  forgetModels(): void {
    this.#api.models.forget()
  }

  get floods(): FloodCounts["counts"] {
    return this.#floods.counts
  }

  /** Number of requests that watch a store. */
  get watchers(): number {
    return this.#api.watches.size
  }

  /** Ends the watches of stores: call it first, because requests of operators may wait for some of them. */
  endWatches(): void {
    this.#api.watches.close()
  }

  protected override async open(
    address: Address,
    { serves: serving, ...opening }: Opening,
  ): Promise<Listener> {
    const { listeners } = await startAuthz({
      ...{ api: this.#api, listen: [address], ...opening, ...this.hooks, serving },
      awaitsActivation: this.#awaitsPlan,
      onFlood: this.#floods.count,
    })
    return listeners[0] as Listener
  }

  protected override running({ plan: { authz } }: Plan): void {
    this.limitConnections(authz?.limits.connectionsPerAddressMax)
    this.#api.planChanged()
  }

  protected override async end(listener: Listener, graceMs: number): Promise<void> {
    const ended = super.end(listener, graceMs)
    // Watches of a closing listener would last until its grace ends.
    this.#api.watches.endClosing()
    await ended
  }
}

/** How this machine reaches a listener, by its `host:port`. */
export function loopbackOf(address: string): string {
  return address.replace(/^0\.0\.0\.0:/, "127.0.0.1:").replace(/^\[::\]:/, "[::1]:")
}
