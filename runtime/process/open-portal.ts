import type { RefusedRequest } from "../control/api.ts"
import type { PlanKeeper, Servable } from "../control/plan-keeper.ts"
import type { HttpClient } from "../http/client/http-client.ts"
import type { PortalPorts } from "../portal/ports.ts"
import type { Database } from "../store/database.ts"
import { listRefusals } from "../store/refusals.ts"
import type { Metering } from "./metering.ts"
import { type AuditLog, openAudit } from "./open-audit.ts"
import { type Edge, listenerTlsOf } from "./open-edge.ts"
import { verifierMaker } from "./open-gateway.ts"
import type { OutageRollbacks } from "./outage-rollbacks.ts"
import { PortalAccess } from "./portal-access.ts"
import { PortalListeners } from "./portal-listeners.ts"
import type { RuntimeSettings } from "./settings.ts"

/** The developer portal of a process: its listeners, and its log of what people did. */
export interface OpenedPortal {
  readonly listeners: PortalListeners
  close(): Promise<void>
}

/** What the portal is made of. */
interface PortalParts {
  readonly database: Database
  readonly keeper: () => Pick<PlanKeeper, "history" | "plan">
  readonly metering: Pick<Metering, "subscriptionDesk" | "usageDesk">
  /** The last refusals that this process remembers. */
  readonly refused: { recent(): readonly RefusedRequest[] | Promise<readonly RefusedRequest[]> }
}

/** Opens the portal of plans; undefined in a process without that role. */
export function openPortalListeners(
  { roles, env, cwd, log, hosts = [], auditSinks, auditToken }: RuntimeSettings,
  parts: PortalParts & {
    readonly http: HttpClient
    readonly edge: Edge
    readonly outage: OutageRollbacks | undefined
  },
): OpenedPortal | undefined {
  if (!roles.includes("portal")) return undefined
  const { http, edge, database, outage } = parts
  const access = new PortalAccess({
    createVerifier: verifierMaker(log, http),
    ...listenerTlsOf(edge),
    ...{ environment: env, folder: cwd, http },
    onReload: (error) =>
      error === undefined
        ? log.info("files of the portal were reloaded")
        : log.error(
            { reason: error.message },
            "files of the portal could not be loaded; the previous ones stay in use",
          ),
  })
  const audit: AuditLog = openAudit(database, log, { sinks: auditSinks, token: auditToken, outage })
  const listeners = new PortalListeners(access, { hosts, log })
  listeners.attach({ ...portsOf(parts), audit })
  return {
    listeners,
    async close() {
      await listeners.close(0)
      await audit.close()
    },
  }
}

const refusalsMax = 100

function portsOf({ database, keeper, metering, refused }: PortalParts): Omit<PortalPorts, "scene" | "audit"> {
  return {
    subscriptions: metering.subscriptionDesk,
    usage: metering.usageDesk,
    history: { list: (limit) => keeper().history(limit), plan: (serial) => keeper().plan(serial) },
    async refusals(subscription) {
      // The database has them a second later, and the embedded one never.
      const [stored, recent] = await Promise.all([
        listRefusals(database, subscription, refusalsMax),
        refused.recent(),
      ])
      const kept = stored.map((json) => (JSON.parse(json) as { readonly refusal: RefusedRequest }).refusal)
      return [...kept, ...recent.filter((each) => each.subscription === subscription)]
    },
  }
}

/** Runs plans on `inner`, with the listeners of other sides beside it. */
export function servedWith(
  inner: Servable,
  ...sides: readonly (Pick<PortalListeners, "around"> | undefined)[]
): Servable {
  return sides.reduce((servable, side) => side?.around(servable) ?? servable, inner)
}
