import type { LoggedRequest } from "../control/api.ts"
import type { Finished, Observer } from "../gateway/observer.ts"

type Listener = (line: LoggedRequest) => void

/** Gives finished requests to those who watch the log in the console. While nobody does, it costs one comparison for each request. */
export class RequestFeed implements Observer {
  readonly #listeners = new Set<Listener>()

  finished(exchange: Finished): void {
    if (this.#listeners.size === 0) return
    const line = lineOf(exchange)
    for (const listener of this.#listeners) listener(line)
  }

  /** Calls `listener` for each request from now on. Returns what ends that. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}

/** Fields are listed one by one, as for the access log. Undefined ones are left out. */
function lineOf(exchange: Finished): LoggedRequest {
  const { id, method, path, status, ip, answeredBy, decision, upstreamMs } = exchange
  const { protocol, route, api, version, operation, user, subscription, product, backend, target } = exchange
  const { problem, reason, cause } = exchange
  const names = { protocol, route, api, version, operation, user, subscription, product, backend, target }
  const said = { ...names, problem, reason, cause, traceId: exchange.trace?.traceId }
  return {
    ...{ id, at: new Date(exchange.startedAtMs).toISOString(), method, path, status, ip },
    ms: rounded(exchange.durationMs),
    ...(upstreamMs === undefined ? {} : { upstreamMs: rounded(upstreamMs) }),
    ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)),
    ...(answeredBy === undefined ? {} : { answeredBy: { ...answeredBy } }),
    ...(decision === undefined ? {} : { decision: decisionOf(decision) }),
    bytesIn: exchange.bytesReceived,
    bytesOut: exchange.bytesSent,
    aborted: exchange.aborted,
    retried: exchange.retried,
  }
}

function decisionOf(decision: NonNullable<Finished["decision"]>): NonNullable<LoggedRequest["decision"]> {
  const { store, pdp, user, relation, object, allowed, revision, reason } = decision
  return {
    ...{ user, relation, object, allowed },
    ...(store === undefined ? {} : { store }),
    ...(pdp === undefined ? {} : { pdp }),
    ...(revision === undefined ? {} : { revision }),
    ...(reason === undefined ? {} : { reason }),
  }
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100
}
