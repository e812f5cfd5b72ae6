import type { DiscoveryNote } from "../discovery/discovery.ts"
import { createGateway, type Gateway } from "../gateway/gateway.ts"
import type { Observer } from "../gateway/observer.ts"
import type { HttpClient } from "../http/client/http-client.ts"
import { createVerifier, type IssuerSettings } from "../identity/issuer.ts"
import { createKeyTable } from "../identity/keys.ts"
import type { TokenVerifier } from "../identity/verifier.ts"
import type { BoundedLimiter } from "../limits/limiter.ts"
import { createMemoryLimiter } from "../limits/memory.ts"
import type { Log } from "../telemetry/log.ts"
import type { Metering } from "./metering.ts"
import { type Edge, listenerTlsOf } from "./open-edge.ts"
import type { PlanStores } from "./plan-stores.ts"
import type { ProcessRecording } from "./recording.ts"
import type { RuntimeSettings } from "./settings.ts"
import type { Tracing } from "./tracing.ts"

/** Makes verifiers of an issuer's tokens. The log shows when an issuer becomes unavailable, and when it is back. */
export function verifierMaker(log: Log, http: HttpClient): (issuer: IssuerSettings) => TokenVerifier {
  return (issuer) =>
    createVerifier(issuer, {
      http,
      onChange: ({ ready, error }) =>
        error === undefined
          ? log.info({ issuer: issuer.name }, "the issuer is available again")
          : log.warn({ issuer: issuer.name, ready, error }, "the issuer is unavailable"),
    })
}

/** What the log says when Redis becomes available, and when it becomes unavailable. */
const sharedWords = {
  limits: {
    shared: "limits are counted in Redis, over all processes",
    alone: "this process counts its limits on its own",
  },
  cache: {
    shared: "the cache is in Redis, for all processes",
    alone: "this process uses a cache of its own",
  },
  sessions: {
    shared: "sessions are in Redis, for all processes",
    alone: "requests with a session get 503",
  },
} as const

/** The gateway of a process. */
export function openGateway(
  settings: RuntimeSettings,
  parts: {
    readonly stores: PlanStores
    readonly metering: Metering
    readonly observer: Observer
    readonly http: HttpClient
    readonly edge: Edge
    readonly tracing: Tracing
    readonly recording: ProcessRecording
    /** Absent: this process counts on its own. */
    readonly limiter?: BoundedLimiter | undefined
  },
): Gateway {
  const { log } = settings
  const { stores, observer, http } = parts
  const { issued, quotas } = parts.metering
  return createGateway({
    http,
    openTracer: parts.tracing.open,
    openRecorder: parts.recording.open,
    createVerifier: verifierMaker(log, http),
    ...listenerTlsOf(parts.edge),
    createKeyTable: (entries) => createKeyTable(entries, issued),
    limiter: parts.limiter ?? createMemoryLimiter(),
    onShared: (what, redis, reason) =>
      reason === undefined
        ? log.info({ redis }, sharedWords[what].shared)
        : log.warn({ redis, reason }, `Redis is unavailable; ${sharedWords[what].alone}`),
    quotas,
    authorizerOf: (plan) => stores.authorizerOf(plan),
    observer,
    environment: settings.env,
    // A new worker shares addresses that other workers already serve, so its clients expect an answer.
    awaitsPlan: parts.limiter !== undefined,
    folder: settings.cwd,
    onDiscovery: (note) => logDiscovery(log, note),
    onReload: (error) =>
      error === undefined
        ? log.info("files of the plan were reloaded")
        : log.error(
            { reason: error.message },
            "files of the plan could not be loaded; the previous ones stay in use",
          ),
  })
}

/** Logs what was found for backends. Changes are ordinary, failures are not. */
function logDiscovery(log: Log, note: DiscoveryNote): void {
  const { source } = note
  if (note.kind === "changed")
    log.info({ source, added: note.added, removed: note.removed }, "targets of a backend have changed")
  else if (note.kind === "recovered") log.info({ source }, "targets are found again")
  else
    log.warn(
      { source, reason: note.reason, targets: note.targets },
      note.targets === 0
        ? "targets cannot be found; requests to their backends get 503"
        : "targets cannot be found; the last ones stay in use",
    )
}
