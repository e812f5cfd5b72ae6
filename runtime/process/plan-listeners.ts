import { PlanRefused, type Servable } from "../control/plan-keeper.ts"
import { ClientAddresses } from "../gateway/exchange/client-address.ts"
import type { Transports } from "../gateway/generation/certificates.ts"
import { LoadError, listenReason } from "../gateway/generation/load-error.ts"
import { AddressConnections } from "../http/server/address-connections.ts"
import type { ShownRevocationList } from "../http/server/client-trust.ts"
import { ConnectionRefusals } from "../http/server/connection-door.ts"
import { isReachedBy } from "../http/server/listen.ts"
import {
  certificatesOf,
  type Listener,
  type ListenerSettings,
  leftGraceMs,
  revocationListsOf,
} from "../http/server/listener.ts"
import type { ShownCertificate } from "../http/server/server-certificates.ts"
import { HandshakeFailures } from "../http/server/tls.ts"
import type { Plan } from "../plan/plan.ts"
import { type Address, addressText, connectionsPerAddressDefault } from "../plan/resources.ts"
import type { ListenerAccess, PreparedAccess } from "./listener-access.ts"
import { refusedBy } from "./refused-by.ts"

/** Listeners opened for a plan that does not run yet. */
export interface PreparedListeners {
  activate(): void
  discard(): Promise<void>
}

/** How to open a listener for a plan that does not run yet. */
export interface Opening extends Pick<ListenerSettings, "transport" | "leaving"> {
  /** Whether the running plan has the address `local` of this machine, at which a connection has reached the new listener. */
  serves(local: string | undefined): boolean
}

/** The internal listeners of one side across plans. A new address opens before the old one closes; an unchanged address stays open. */
export abstract class PlanListeners<Access extends ListenerAccess<unknown>> {
  protected readonly access: Access
  /** How messages name them. */
  readonly #words: string
  readonly #onError: (error: unknown) => void
  readonly #open = new Map<string, Listener>()
  readonly #left = new WeakSet<Listener>()
  readonly #handshakes = new HandshakeFailures()
  readonly #connections = new AddressConnections()
  readonly #refusals = new ConnectionRefusals()

  constructor(access: Access, words: string, onError: (error: unknown) => void) {
    this.access = access
    this.#words = words
    this.#onError = onError
    this.limitConnections(undefined)
    access.onChange = (plan) => this.prepare(plan)
  }

  /** What its listeners call for each connection. */
  readonly hooks = {
    onHandshakeFailed: this.#handshakes.count,
    admit: (from: string): (() => void) | undefined => this.#connections.admit(from),
    onRefused: this.#refusals.count,
  }

  /** Opens one address. Rejects with the system's error when it cannot be opened. */
  protected abstract open(address: Address, opening: Opening): Promise<Listener>

  /** Called when a plan begins to run, before its listeners serve requests. */
  protected abstract running(plan: Plan): void

  /** The open listeners, in the order in which they were opened. */
  protected get listeners(): readonly Listener[] {
    return [...this.#open.values()]
  }

  /** Whether an address of a plan needs no listener of its own. */
  protected isOpenAlready(_address: Address): boolean {
    return false
  }

  /** Sets how clients reach the listeners. */
  protected reach(transports: Transports): void {
    for (const [key, listener] of this.#open) listener.transport = transports.get(key) ?? {}
  }

  /** Ends one listener. Its requests have `graceMs` milliseconds to finish. */
  protected async end(listener: Listener, graceMs: number): Promise<void> {
    await listener.close(graceMs)
  }

  /**
   * How many connections an address may have open; null: any number. These listeners trust no proxy to name other addresses, so all of their callers
   * are limited.
   */
  protected limitConnections(openMax: number | null = connectionsPerAddressDefault): void {
    const addresses = new ClientAddresses([])
    this.#connections.limits = {
      openMax: openMax ?? undefined,
      newMax: undefined,
      countedAs: (address) => addresses.countedAs(addresses.of(address, undefined).ip),
    }
  }

  /** `host:port` of each. */
  addresses(): string[] {
    return this.listeners.map(({ bound }) => bound)
  }

  get certificates(): readonly ShownCertificate[] {
    return certificatesOf(this.listeners)
  }

  /** The revocation lists for client certificates. */
  get revocationLists(): readonly ShownRevocationList[] {
    return revocationListsOf(this.listeners)
  }

  get handshakesFailed(): HandshakeFailures["counts"] {
    return this.#handshakes.counts
  }

  get connectionsRefused(): ConnectionRefusals["counts"] {
    return this.#refusals.counts
  }

  /** State of the issuers of its callers. */
  issuers(): ReturnType<Access["issuers"]> {
    return this.access.issuers() as ReturnType<Access["issuers"]>
  }

  /**
   * Opens the addresses that the plan adds, and reads the keys of its callers.
   * @throws PlanRefused with the address that cannot be opened · LoadError for certificates, keys and issuers; then no address was opened
   */
  async prepare(plan: Plan): Promise<PreparedListeners> {
    const access = await this.access.prepare(plan)
    const opened = new Map<string, Listener>()
    const discard = async () => {
      access.discard()
      // In reverse order of opening, so that each address returns to the listener from which it was taken.
      for (const listener of [...opened.values()].toReversed()) await listener.discard(leftGraceMs)
    }
    const wanted = new Set(access.listen.map(addressText))
    const leaving = [...this.#open].flatMap(([key, listener]) => (wanted.has(key) ? [] : [listener]))
    for (const address of access.listen) {
      const key = addressText(address)
      if (this.#open.has(key) || this.isOpenAlready(address)) continue
      try {
        const serves = (local?: string) => this.#serves(opened.get(key), local)
        const opening = { transport: access.transports.get(key), leaving, serves }
        opened.set(key, await this.open(address, opening))
      } catch (error) {
        await discard()
        throw this.#refused(plan, key, error as NodeJS.ErrnoException)
      }
    }
    return { activate: () => this.#activate(plan, access, opened), discard }
  }

  /** Runs plans on `inner`, and the listeners of this side beside it. */
  around(inner: Servable): Servable {
    return {
      prepare: async (plan) => {
        const own = await this.prepare(plan).catch((error: unknown) => {
          throw error instanceof LoadError ? refusedBy(error) : error
        })
        try {
          const prepared = await inner.prepare(plan)
          return {
            activate: (stores) => {
              own.activate()
              return prepared.activate(stores)
            },
            discard: async () => {
              await Promise.all([own.discard(), prepared.discard()])
            },
          }
        } catch (error) {
          await own.discard()
          throw error
        }
      },
    }
  }

  /** Requests in progress have this many milliseconds to finish. */
  async close(graceMs: number): Promise<void> {
    await Promise.all([...this.#open.values()].map((listener) => this.end(listener, graceMs)))
    this.#open.clear()
    this.access.close()
  }

  /** Switches to the listeners of a new plan. Old ones are closed after their requests. */
  #activate(plan: Plan, access: PreparedAccess, opened: ReadonlyMap<string, Listener>): void {
    const wanted = new Set(access.listen.map(addressText))
    access.activate()
    this.running(plan)
    for (const [key, listener] of this.#open) {
      if (wanted.has(key)) continue
      this.#open.delete(key)
      this.#left.add(listener)
      this.end(listener, leftGraceMs).catch(this.#onError)
    }
    for (const [key, listener] of opened) {
      this.#open.set(key, listener)
      listener.activate()
    }
    this.reach(access.transports)
  }

  /**
   * Listeners of the running plan answer all requests. Another listener answers only connections to an address of the running plan: a new
   * one that has already taken over such an address, and an old one whose address a running listener has taken over.
   */
  #serves(listener: Listener | undefined, local: string | undefined): boolean {
    if (listener === undefined) return false
    const running = [...this.#open.values()]
    if (running.includes(listener)) return true
    const before = this.#left.has(listener) ? [] : listener.opened.before
    const after = running.filter(({ opened }) =>
      opened.before.some(({ server }) => server === listener.opened.server),
    )
    return isReachedBy(
      [...before.map(({ address }) => address), ...after.map(({ opened }) => opened.address)],
      local,
    )
  }

  #refused(plan: Plan, address: string, error: NodeJS.ErrnoException): PlanRefused {
    const message = `${this.#words} cannot listen on ${address}: ${listenReason(error)}`
    const { side } = this.access
    const origin = plan.origins[side]
    return new PlanRefused([{ path: `${side}.listen`, message, ...(origin === undefined ? {} : { origin }) }])
  }
}
