import type { AdmissionRefusal } from "../control/admission.ts"
import type { ControlCallers } from "../control/operators.ts"
import type { Control } from "../control/server.ts"
import type { Transports } from "../gateway/generation/certificates.ts"
import type { RequestSender } from "../http/client/http-client.ts"
import { EventCounts } from "../http/server/event-counts.ts"
import type { Listener } from "../http/server/listener.ts"
import { type Address, addressText } from "../plan/resources.ts"
import type { ControlAccess } from "./control-access.ts"
import type { AuditLog } from "./open-audit.ts"
import { type Opening, PlanListeners } from "./plan-listeners.ts"

/**
 * The control listeners of plans, beside the one with which the process was started. That one stays open with every plan; a plan that declares
 * its address says how operators reach it.
 */
export class ControlListeners extends PlanListeners<ControlAccess> {
  readonly #refusals = new EventCounts<AdmissionRefusal>()
  #control: Control | undefined
  #audit: Pick<AuditLog, "dropped"> | undefined

  /** For requests to the issuers of operators. */
  readonly http: RequestSender

  constructor(access: ControlAccess, http: RequestSender, onError: (error: unknown) => void) {
    super(access, "the control API", onError)
    this.http = http
  }

  /** Call it before the first plan, with the listener of the process. */
  attach(control: Control): void {
    this.#control = control
  }

  readonly countRefusal = this.#refusals.count

  /** Undefined: no plan runs. */
  get callers(): ControlCallers | undefined {
    return this.access.callers
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

  protected override async open(listen: Address, { transport, leaving }: Opening): Promise<Listener> {
    if (this.#control === undefined) throw new Error("no control listener is attached")
    return this.#control.open({ listen, transport, leaving: leaving ?? [] })
  }

  protected override running(): void {}

  protected override get listeners(): readonly Listener[] {
    return [...(this.#control?.listeners ?? []), ...super.listeners]
  }

  /** Whether the process was started with this address. */
  protected override isOpenAlready({ host, port }: Address): boolean {
    return (this.#control?.listeners ?? []).some(
      ({ asked, opened }) => opened.address.port === port && asked.host === host,
    )
  }

  protected override reach(transports: Transports): void {
    super.reach(transports)
    for (const listener of this.#control?.listeners ?? []) {
      const { host } = listener.asked
      const { port } = listener.opened.address
      listener.transport = transports.get(addressText({ host, port })) ?? {}
    }
  }
}
