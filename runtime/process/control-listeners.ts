import type { AdmissionRefusal } from "../control/admission.ts"
import type { ControlCallers } from "../control/operators.ts"
import { PlanRefused, type Prepared, type Servable } from "../control/plan-keeper.ts"
import type { Control } from "../control/server.ts"
import type { Transports } from "../gateway/generation/certificates.ts"
import { LoadError, listenReason } from "../gateway/generation/load-error.ts"
import { AddressConnections } from "../http/server/address-connections.ts"
import type { ShownRevocationList } from "../http/server/client-trust.ts"
import { ConnectionRefusals } from "../http/server/connection-door.ts"
import { EventCounts } from "../http/server/event-counts.ts"
import { certificatesOf, type Listener, leftGraceMs, revocationListsOf } from "../http/server/listener.ts"
import type { ShownCertificate } from "../http/server/server-certificates.ts"
import { HandshakeFailures } from "../http/server/tls.ts"
import type { Plan } from "../plan/plan.ts"
import { type Address, addressText } from "../plan/resources.ts"
import type { ControlAccess } from "./control-access.ts"
import { internalAddressLimits } from "./internal-address-limits.ts"
import type { AuditLog } from "./open-audit.ts"
import { refusedBy } from "./served-plan.ts"

/**
 * The control listeners of plans, beside the one with which the process was started. That one stays open with every plan; a plan that declares
 * its address says how operators reach it.
 */
export class ControlListeners {
  readonly #access: ControlAccess
  readonly #onError: (error: unknown) => void
  readonly #handshakes = new HandshakeFailures()
  readonly #refusals = new EventCounts<AdmissionRefusal>()
  readonly #connections = new AddressConnections()
  readonly #connectionRefusals = new ConnectionRefusals()
  #control: Control | undefined
  #audit: Pick<AuditLog, "dropped"> | undefined
  #open = new Map<string, Listener>()

  constructor(access: ControlAccess, onError: (error: unknown) => void) {
    this.#access = access
    this.#onError = onError
    this.#connections.limits = internalAddressLimits()
    access.onTransports = (transports) => this.#reach(transports)
  }

  /** Call it before the first plan, with the listener of the process. */
  attach(control: Control): void {
    this.#control = control
  }

  readonly countHandshake = this.#handshakes.count
  readonly countConnection = this.#connectionRefusals.count
  readonly admit = (from: string): (() => void) | undefined => this.#connections.admit(from)
  readonly countRefusal = this.#refusals.count

  /** Undefined: no plan runs. */
  get callers(): ControlCallers | undefined {
    return this.#access.callers
  }

  /** State of the issuers of operators. */
  issuers(): ReturnType<ControlAccess["issuers"]> {
    return this.#access.issuers()
  }

  /** The audit log, for metrics. */
  attachAudit(audit: Pick<AuditLog, "dropped">): void {
    this.#audit = audit
  }

  /** Rows of the audit log that a sink did not take. */
  get auditDropped(): AuditLog["dropped"] {
    return this.#audit?.dropped ?? new Map()
  }

  get refusals(): EventCounts<AdmissionRefusal>["counts"] {
    return this.#refusals.counts
  }

  get certificates(): readonly ShownCertificate[] {
    return certificatesOf(this.#listeners())
  }

  get revocationLists(): readonly ShownRevocationList[] {
    return revocationListsOf(this.#listeners())
  }

  get connectionsRefused(): ConnectionRefusals["counts"] {
    return this.#connectionRefusals.counts
  }

  get handshakesFailed(): HandshakeFailures["counts"] {
    return this.#handshakes.counts
  }

  /** Runs plans on `inner`, and their control listeners here. */
  around(inner: Servable): Servable {
    return {
      prepare: async (plan) => {
        const own = await this.#prepare(plan).catch((error: unknown) => {
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

  /** Ends the listeners of the plan. */
  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((listener) => listener.close(0)))
    this.#open.clear()
    this.#access.close()
  }

  /**
   * Opens the addresses that the plan adds.
   * @throws PlanRefused with the address that cannot be opened · LoadError for certificates; then no address was opened
   */
  async #prepare(plan: Plan): Promise<{ activate(): void; discard: Prepared["discard"] }> {
    const access = await this.#access.prepare(plan)
    const wanted = new Map((plan.plan.control?.listen ?? []).map((each) => [addressText(each), each]))
    const opened = new Map<string, Listener>()
    const discard = async () => {
      access.discard()
      for (const listener of [...opened.values()].toReversed()) await listener.discard(leftGraceMs)
    }
    const leaving = [...this.#open].flatMap(([key, listener]) => (wanted.has(key) ? [] : [listener]))
    for (const [key, { host, port }] of wanted) {
      if (this.#open.has(key) || this.#isOwn({ host, port })) continue
      try {
        const transport = access.transports.get(key)
        const listener = await this.#control?.open({ listen: { host, port }, transport, leaving })
        if (listener !== undefined) opened.set(key, listener)
      } catch (error) {
        await discard()
        throw refused(plan, key, error as NodeJS.ErrnoException)
      }
    }
    const activate = () => {
      access.activate()
      this.#activate(wanted, opened)
      this.#reach(access.transports)
    }
    return { activate, discard }
  }

  #activate(wanted: ReadonlyMap<string, Address>, opened: ReadonlyMap<string, Listener>): void {
    for (const [key, listener] of this.#open) {
      if (wanted.has(key)) continue
      this.#open.delete(key)
      // The response to the request that applied this plan may still be on its way there.
      listener.close(leftGraceMs).catch(this.#onError)
    }
    for (const [key, listener] of opened) {
      this.#open.set(key, listener)
      listener.activate()
    }
  }

  /** Whether the process was started with this address. */
  #isOwn({ host, port }: Address): boolean {
    return (this.#control?.listeners ?? []).some(
      ({ asked, opened }) => opened.address.port === port && asked.host === host,
    )
  }

  #listeners(): Listener[] {
    return [...(this.#control?.listeners ?? []), ...this.#open.values()]
  }

  /** Sets how operators reach the listeners. */
  #reach(transports: Transports): void {
    for (const [key, listener] of this.#open) listener.transport = transports.get(key) ?? {}
    for (const listener of this.#control?.listeners ?? []) {
      const { host } = listener.asked
      const { port } = listener.opened.address
      listener.transport = transports.get(addressText({ host, port })) ?? {}
    }
  }
}

function refused(plan: Plan, address: string, error: NodeJS.ErrnoException): PlanRefused {
  const message = `the control API cannot listen on ${address}: ${listenReason(error)}`
  const origin = plan.origins["control"]
  return new PlanRefused([{ path: "control.listen", message, ...(origin === undefined ? {} : { origin }) }])
}
