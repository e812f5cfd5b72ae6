import { AuthzApi } from "../authz/api.ts"
import type { AuthzParts } from "../authz/ports.ts"
import { type AuthzListeners, startAuthz } from "../authz/server.ts"
import { PlanRefused } from "../control/plan-keeper.ts"
import type { EngineDoor } from "../control/ports.ts"
import type { Transports } from "../gateway/generation/certificates.ts"
import { listenReason } from "../gateway/generation/load-error.ts"
import { AddressConnections } from "../http/server/address-connections.ts"
import type { ShownRevocationList } from "../http/server/client-trust.ts"
import { ConnectionRefusals } from "../http/server/connection-door.ts"
import { FloodCounts } from "../http/server/http2/flood-guard.ts"
import { isReachedBy } from "../http/server/listen.ts"
import { certificatesOf, type Listener, leftGraceMs, revocationListsOf } from "../http/server/listener.ts"
import type { ShownCertificate } from "../http/server/server-certificates.ts"
import { HandshakeFailures } from "../http/server/tls.ts"
import type { Plan } from "../plan/plan.ts"
import { type Address, addressText } from "../plan/resources.ts"
import type { EngineAccess } from "./engine-access.ts"
import { internalAddressLimits } from "./internal-address-limits.ts"

/** Listeners opened for a plan that does not run yet. */
export interface PreparedListeners {
  activate(): void
  discard(): Promise<void>
}

/** The engine's HTTP listeners across plans. A new address opens before the old one closes; an unchanged address stays open. */
export class EngineListeners {
  readonly #api: AuthzApi
  readonly #access: EngineAccess
  readonly #onError: (error: unknown) => void
  readonly #awaitsPlan: boolean
  #open = new Map<string, AuthzListeners>()
  readonly #left = new WeakSet<AuthzListeners>()
  readonly #handshakes = new HandshakeFailures()
  readonly #floods = new FloodCounts()
  readonly #connections = new AddressConnections()
  readonly #refusals = new ConnectionRefusals()

  /** `awaitsPlan`: requests on a new address wait until its plan runs, instead of getting 503. */
  constructor(
    parts: Omit<AuthzParts, "access">,
    access: EngineAccess,
    onError: (error: unknown) => void,
    awaitsPlan = false,
  ) {
    this.#access = access
    this.#awaitsPlan = awaitsPlan
    this.#api = new AuthzApi({ ...parts, access: () => access.access })
    this.#onError = onError
    access.onTransports = (transports) => this.#reach(transports)
  }

  /** `host:port` of each. */
  addresses(): string[] {
    return [...this.#open.values()].flatMap(({ addresses }) => addresses.map(addressText))
  }

  /** An address of this process' engine. A listener on all addresses is reached by the loopback address. */
  door(): EngineDoor | undefined {
    const listener = this.#listeners().find(({ transport }) => transport.grpc !== true)
    if (listener === undefined) return undefined
    const scheme = listener.transport.tls === undefined ? "http" : "https"
    return { url: `${scheme}://${loopbackOf(listener.bound)}`, authorization: this.#access.authorization }
  }

  /** Call it when the database lost commits, because models may be among them. */
  forgetModels(): void {
    this.#api.models.forget()
  }

  /** The certificates of its listeners. */
  get certificates(): readonly ShownCertificate[] {
    return certificatesOf(this.#listeners())
  }

  /** The revocation lists for client certificates of its listeners. */
  get revocationLists(): readonly ShownRevocationList[] {
    return revocationListsOf(this.#listeners())
  }

  get handshakesFailed(): HandshakeFailures["counts"] {
    return this.#handshakes.counts
  }

  get floods(): FloodCounts["counts"] {
    return this.#floods.counts
  }

  get connectionsRefused(): ConnectionRefusals["counts"] {
    return this.#refusals.counts
  }

  /** State of the issuers of the engine's callers. */
  issuers(): ReturnType<EngineAccess["issuers"]> {
    return this.#access.issuers()
  }

  /**
   * Opens the addresses that the plan adds, and reads the keys of its callers. A new address answers 503 until the plan runs; otherwise it
   * would admit the callers of the previous plan.
   * @throws PlanRefused with the address that cannot be opened · LoadError for keys and issuers; then no address was opened
   */
  async prepare(plan: Plan): Promise<PreparedListeners> {
    const access = await this.#access.prepare(plan)
    const wanted = new Map((plan.plan.authz?.listen ?? []).map((address) => [addressText(address), address]))
    const opened = new Map<string, AuthzListeners>()
    const discard = async () => {
      access.discard()
      // In reverse order of opening, so that each address returns to the listener from which it was taken.
      for (const { listeners } of [...opened.values()].toReversed())
        for (const listener of listeners) await listener.discard(leftGraceMs)
    }
    const leaving = [...this.#open].flatMap(([key, { listeners }]) => (wanted.has(key) ? [] : listeners))
    for (const [key, address] of wanted) {
      if (this.#open.has(key)) continue
      try {
        const serving = (local?: string) => this.#serves(opened.get(key), local)
        const how = {
          ...{ serving, leaving, awaitsActivation: this.#awaitsPlan },
          transport: access.transports.get(key),
          onHandshakeFailed: this.#handshakes.count,
          onFlood: this.#floods.count,
          admit: (from: string) => this.#connections.admit(from),
          onRefused: this.#refusals.count,
        }
        opened.set(key, await startAuthz({ api: this.#api, listen: [address], ...how }))
      } catch (error) {
        await discard()
        throw refused(plan, key, error as NodeJS.ErrnoException)
      }
    }
    const activate = () => {
      access.activate()
      this.#connections.limits = internalAddressLimits(plan.plan.authz?.limits.connectionsPerAddressMax)
      this.#activate(wanted, opened)
      this.#reach(access.transports)
    }
    return { activate, discard }
  }

  #listeners(): Listener[] {
    return [...this.#open.values()].flatMap(({ listeners }) => listeners)
  }

  /** Sets how clients reach the listeners. */
  #reach(transports: Transports): void {
    for (const [key, { listeners }] of this.#open)
      for (const listener of listeners) listener.transport = transports.get(key) ?? {}
  }

  /** Number of requests that watch a store. */
  get watchers(): number {
    return this.#api.watches.size
  }

  /** Ends the watches of stores: call it first, because requests of operators may wait for some of them. */
  endWatches(): void {
    this.#api.watches.close()
  }

  /** Requests in progress have this many milliseconds to finish. */
  async close(graceMs: number): Promise<void> {
    await Promise.all([...this.#open.values()].map((listeners) => listeners.close(graceMs)))
    this.#open.clear()
    this.#access.close()
  }

  /**
   * Listeners of the running plan answer all requests. Another listener answers only connections to an address of the running plan: a new
   * one that has already taken over such an address, and an old one whose address a running listener has taken over.
   */
  #serves(listeners: AuthzListeners | undefined, local: string | undefined): boolean {
    if (listeners === undefined) return false
    const running = [...this.#open.values()]
    if (running.includes(listeners)) return true
    const own = listeners.listeners.map(({ opened }) => opened)
    const servers = new Set<unknown>(own.map(({ server }) => server))
    const before = this.#left.has(listeners) ? [] : own.flatMap((each) => each.before)
    const after = running
      .flatMap((each) => each.listeners.map(({ opened }) => opened))
      .filter((each) => each.before.some(({ server }) => servers.has(server)))
    return isReachedBy(
      [...before, ...after].map(({ address }) => address),
      local,
    )
  }

  /** Switches to the listeners of a new plan. Old ones are closed after their requests. */
  #activate(wanted: ReadonlyMap<string, Address>, opened: ReadonlyMap<string, AuthzListeners>): void {
    this.#api.planChanged()
    for (const [key, listeners] of this.#open) {
      if (wanted.has(key)) continue
      this.#open.delete(key)
      this.#left.add(listeners)
      listeners.close(leftGraceMs).catch(this.#onError)
    }
    for (const [key, listeners] of opened) {
      this.#open.set(key, listeners)
      for (const listener of listeners.listeners) listener.activate()
    }
  }
}

/** How this machine reaches a listener, by its `host:port`. */
export function loopbackOf(address: string): string {
  return address.replace(/^0\.0\.0\.0:/, "127.0.0.1:").replace(/^\[::\]:/, "[::1]:")
}

function refused(plan: Plan, address: string, error: NodeJS.ErrnoException): PlanRefused {
  const message = `the engine cannot listen on ${address}: ${listenReason(error)}`
  const origin = plan.origins["authz"]
  return new PlanRefused([{ path: "authz.listen", message, ...(origin === undefined ? {} : { origin }) }])
}
