import { observers } from "../gateway/observer.ts"
import type { Log } from "../telemetry/log.ts"
import type { Metrics } from "../telemetry/metrics.ts"
import { DenialLog } from "./denial-log.ts"
import type { Metering } from "./metering.ts"
import type { PlanStores } from "./plan-stores.ts"
import { RefusedRequests } from "./refused-requests.ts"
import { RelationChanges } from "./relation-changes.ts"
import { RequestObserver } from "./request-observer.ts"

/** Who takes note of requests, and of what became of them. */
export function makeObservers(parts: {
  readonly metrics: Metrics
  readonly log: Log
  readonly requestLog: Log | undefined
  readonly stores: PlanStores
  readonly metering: Metering
}) {
  const { metrics, log, requestLog, stores, metering } = parts
  const ask: ConstructorParameters<typeof RefusedRequests>[0] = (store, request) =>
    stores.check(store, request)
  const refused = new RefusedRequests(ask)
  const relations = new RelationChanges(metrics, log)
  const logs = { requests: requestLog, traces: log }
  const requests = new RequestObserver(metrics, logs, new DenialLog({ ask, log }))
  return { observer: observers(requests, metering.observer, refused, relations), refused, relations }
}
