import type { AuditPorts } from "../control/audit.ts"
import type { SubscriptionDesk } from "../control/subscription-desk.ts"
import type { UsageDesk } from "../control/usage-desk.ts"
import type { PlanHistory } from "./changelog.ts"
import type { KeptRefusal } from "./own-errors.ts"
import type { PortalScene } from "./scene.ts"

/** What the portal needs of the process. Methods reject with `SourceUnavailable` when the database does not answer. */
export interface PortalPorts {
  /** The portal of the running plan; undefined: no plan runs, or it has no `portal`. */
  scene(): PortalScene | undefined
  readonly audit: Pick<AuditPorts, "append" | "onLost">
  readonly subscriptions: SubscriptionDesk
  readonly usage: UsageDesk
  readonly history: PlanHistory
  /** Refused calls of the last hour of a subscription. */
  refusals(subscription: string): Promise<readonly KeptRefusal[]>
}
