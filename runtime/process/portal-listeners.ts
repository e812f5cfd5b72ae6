import type { Listener } from "../http/server/listener.ts"
import type { Address } from "../plan/resources.ts"
import type { PortalPorts } from "../portal/ports.ts"
import { openPortal } from "../portal/server.ts"
import type { Log } from "../telemetry/log.ts"
import type { AuditLog } from "./open-audit.ts"
import { type Opening, PlanListeners } from "./plan-listeners.ts"
import type { PortalAccess } from "./portal-access.ts"

/** The listeners of the developer portal across plans. */
export class PortalListeners extends PlanListeners<PortalAccess> {
  readonly #settings: { readonly hosts: readonly string[]; readonly log: Log }
  #ports: PortalPorts | undefined
  #audit: Pick<AuditLog, "dropped"> | undefined

  constructor(access: PortalAccess, settings: { readonly hosts: readonly string[]; readonly log: Log }) {
    super(access, "the developer portal", (error) =>
      settings.log.warn({ err: error }, "closing a listener of the portal failed"),
    )
    this.#settings = settings
  }

  /** Call it before the first plan. */
  attach(ports: Omit<PortalPorts, "scene" | "audit"> & { readonly audit: AuditLog }): void {
    this.#audit = ports.audit
    this.#ports = { ...ports, scene: () => this.access.callers?.scene }
  }

  /** Rows of the portal's changes that a sink of the audit log did not take. */
  get auditDropped(): AuditLog["dropped"] {
    return this.#audit?.dropped ?? new Map()
  }

  protected override async open(listen: Address, { transport, leaving }: Opening): Promise<Listener> {
    if (this.#ports === undefined) throw new Error("the portal has no ports")
    const opening = { ...this.hooks, transport, leaving: leaving ?? [] }
    return openPortal(listen, { ...this.#settings, opening }, this.#ports)
  }

  protected override running(): void {}
}
