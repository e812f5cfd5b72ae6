import type { ApiObserver } from "../authz/observed.ts"
import type { RejectedRequest } from "../authz/ports.ts"
import type { Engine } from "../check/engine.ts"
import type { HttpClient } from "../http/client/http-client.ts"
import type { Database } from "../store/database.ts"
import type { Log } from "../telemetry/log.ts"
import { EngineAccess } from "./engine-access.ts"
import { EngineListeners } from "./engine-listeners.ts"
import { LogBudget } from "./log-budget.ts"
import { type Edge, listenerTlsOf } from "./open-edge.ts"
import { verifierMaker } from "./open-gateway.ts"
import type { PlanStores } from "./plan-stores.ts"
import type { RuntimeSettings } from "./settings.ts"
import type { Tracing } from "./tracing.ts"

const pathMax = 200

/** The listeners of the engine's API in this process. */
export function openEngine(
  { env, cwd, log, modelText, hosts }: RuntimeSettings,
  parts: {
    readonly database: Database
    readonly engine: Engine
    readonly stores: PlanStores
    readonly http: HttpClient
    readonly edge: Edge
    readonly observer: ApiObserver
    readonly tracing: Tracing
    /** Of a worker: the key with which its parent calls the engine. */
    readonly ownKey?: string | undefined
  },
): EngineListeners {
  const { database, engine, stores, http, observer, ownKey, tracing } = parts
  const access = new EngineAccess({
    createVerifier: verifierMaker(log, http),
    ...listenerTlsOf(parts.edge),
    environment: env,
    folder: cwd,
    openTracer: tracing.open,
    ownKey,
    onReload: (error) =>
      error === undefined
        ? log.info("keys of the callers of the engine were reloaded")
        : log.error(
            { reason: error.message },
            "keys of the callers of the engine could not be loaded; the previous ones stay in use",
          ),
  })
  const refusals = new RefusalLog(log)
  return new EngineListeners(
    {
      database,
      engine,
      planModel: (digest) => stores.modelPlan(digest),
      maxStalenessMs: () => stores.maxStalenessMs,
      limits: () => stores.limits,
      cors: () => stores.cors,
      modelText,
      hosts,
      observer,
      tracer: () => access.tracer,
      authzen: () => ({ store: stores.authzenStore, url: access.authzenUrl }),
      onFault: (error, requestId) => log.warn({ err: error, request_id: requestId }, "engine request failed"),
      onRefusal: (refusal) => refusals.refused(refusal),
    },
    access,
    (error) => log.warn({ err: error }, "closing an engine listener failed"),
    // A new worker shares addresses that other workers already serve, so its clients expect an answer.
    ownKey !== undefined,
  )
}

/**
 * Logs callers that the engine's listener refused, so that an operator sees which client has a wrong key. Refusals above the rate are
 * counted, and the next line contains their number.
 */
export class RefusalLog {
  readonly #log: Log
  readonly #budget: LogBudget

  constructor(log: Log, now?: () => number) {
    this.#log = log
    this.#budget = new LogBudget(now)
  }

  /** Logs a refused caller, as far as the budget allows: an attacker must not fill the log. */
  refused({ requestId, path, message, caller, ...line }: RejectedRequest): void {
    if (!this.#budget.take()) {
      this.#budget.skip()
      return
    }
    const who = caller === undefined ? {} : { caller }
    const skipped = this.#budget.skipped()
    const more = skipped > 0 ? { skipped } : {}
    const fields = { request_id: requestId, ...line, path: path.slice(0, pathMax), reason: message }
    this.#log.warn({ ...fields, ...who, ...more }, "the engine refused a caller")
  }
}
