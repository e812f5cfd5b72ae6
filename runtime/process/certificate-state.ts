import type { Gateway } from "../gateway/gateway.ts"
import type { ShownCertificate } from "../http/server/server-certificates.ts"
import { endSoon } from "../plan/certificate-pair.ts"
import type { Metrics } from "../telemetry/metrics.ts"
import type { EngineListeners } from "./engine-listeners.ts"

/** The listeners of a process; undefined where it does not have the role. */
interface SecuredParts {
  readonly gateway: Pick<Gateway, "state"> | undefined
  readonly listeners: Pick<EngineListeners, "certificates" | "handshakesFailed"> | undefined
}

/** Sentences about certificates of listeners that have expired, or will in 14 days. */
export function certificateWarnings(parts: SecuredParts, now = Date.now()): string[] {
  return certificatesIn(parts).flatMap(({ name, hosts, notAfter }) => {
    const when = endSoon(notAfter.getTime(), now)
    if (when === undefined) return []
    const of = hosts.length === 0 ? "" : ` (${hosts.slice(0, 3).join(", ")}${hosts.length > 3 ? ", …" : ""})`
    return [`certificate ${name}${of} ${when}: replace it; files are read again without a restart`]
  })
}

/** When certificates of listeners expire, and how many connections end before their TLS handshake is complete. */
export function addCertificateMetrics(metrics: Metrics, parts: SecuredParts): void {
  metrics.gauge(
    "sallyport_certificate_not_after_seconds",
    "When a certificate of a listener expires, in seconds since 1970.",
    ["certificate"],
    () => certificatesIn(parts).map(({ name, notAfter }) => [[name], notAfter.getTime() / 1_000] as const),
    "min",
  )
  metrics.observableCounter(
    "sallyport_tls_handshakes_failed_total",
    "Connections that ended before their TLS handshake was complete, by reason.",
    ["listener", "reason"],
    () => [
      ...[...(parts.gateway?.state().handshakesFailed ?? [])].map(
        ([reason, count]) => [["gateway", reason], count] as const,
      ),
      ...[...(parts.listeners?.handshakesFailed ?? [])].map(
        ([reason, count]) => [["authz", reason], count] as const,
      ),
    ],
  )
}

/** Each certificate once: several listeners may show the same. */
function certificatesIn({ gateway, listeners }: SecuredParts): ShownCertificate[] {
  const all = [...(gateway?.state().certificates ?? []), ...(listeners?.certificates ?? [])]
  return [...new Map(all.map((each) => [each.name, each])).values()]
}
