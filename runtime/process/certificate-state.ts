import type { AcmeCertificates, AcmeState } from "../acme/acme-certificates.ts"
import type { Gateway } from "../gateway/gateway.ts"
import type { OcspStaples, StapleState } from "../http/server/ocsp-staples.ts"
import type { ShownCertificate } from "../http/server/server-certificates.ts"
import { endSoon } from "../plan/certificate-pair.ts"
import type { Metrics } from "../telemetry/metrics.ts"
import type { ControlListeners } from "./control-listeners.ts"
import type { EngineListeners } from "./engine-listeners.ts"
import type { PortalListeners } from "./portal-listeners.ts"

/** The listeners of a process; undefined where it does not have the role. */
interface SecuredParts {
  readonly gateway: Pick<Gateway, "state"> | undefined
  readonly listeners:
    | Pick<
        EngineListeners,
        "certificates" | "revocationLists" | "handshakesFailed" | "floods" | "connectionsRefused"
      >
    | undefined
  readonly operators?:
    | Pick<ControlListeners, "certificates" | "revocationLists" | "handshakesFailed" | "connectionsRefused">
    | undefined
  readonly portal?:
    | Pick<PortalListeners, "certificates" | "revocationLists" | "handshakesFailed" | "connectionsRefused">
    | undefined
  /** Certificates from ACME. */
  readonly acme?: Pick<AcmeCertificates, "states">
  readonly staples?: Pick<OcspStaples, "states">
}

/**
 * Sentences about certificates of listeners that have expired, or will in 14 days, about orders that fail, and about revocation lists that have
 * expired.
 */
export function certificateWarnings(parts: SecuredParts, now = Date.now()): string[] {
  const staples = (parts.staples?.states ?? []).flatMap(stapleWarning)
  return [...ownWarnings(parts, now), ...staples, ...listWarnings(parts, now)]
}

/** Some failures in a row are ordinary for a responder. */
const failuresTold = 3

function stapleWarning({ name, isDemanded, isRevoked, failures, reason, endsMs }: StapleState): string[] {
  if (isRevoked)
    return [`certificate ${name} is revoked by its authority, so clients may refuse it: replace it`]
  if (reason === undefined) return []
  if (endsMs !== undefined)
    return failures < failuresTold
      ? []
      : [
          `the OCSP response of certificate ${name} could not be renewed, ${failures} times: ${reason}; it ends at ${new Date(endsMs).toISOString()}`,
        ]
  if (isDemanded)
    return [
      `certificate ${name} demands a stapled OCSP response (must-staple), and there is none: ${reason}; clients may refuse it`,
    ]
  return failures < failuresTold ? [] : [`no OCSP response can be stapled for certificate ${name}: ${reason}`]
}

/** Lists are renewed every few days, so a warning before their end would always be shown. */
function listWarnings(parts: SecuredParts, now: number): string[] {
  return listsIn(parts).flatMap(([file, endsMs]) =>
    endsMs > now
      ? []
      : [
          `revocation list ${file} expired on ${new Date(endsMs).toISOString().slice(0, 10)}, so client certificates of its authority are refused: replace the file; it is read again without a restart`,
        ],
  )
}

function ownWarnings(parts: SecuredParts, now: number): string[] {
  const ordered = parts.acme?.states ?? []
  const ending = certificatesIn(parts).flatMap(({ name, hosts, notAfter }) => {
    const when = endSoon(notAfter.getTime(), now)
    if (when === undefined) return []
    const remedy = ordered.some((each) => each.name === name)
      ? "it is renewed by ACME, see the log"
      : "replace it; files are read again without a restart"
    return [`certificate ${name}${hostWords(hosts)} ${when}: ${remedy}`]
  })
  return [...ending, ...ordered.flatMap(orderWarning)]
}

/** What is wrong with a certificate from ACME: it is not there yet, or cannot be ordered. */
function orderWarning({
  name,
  hosts,
  isServed,
  failures,
  reason,
  retryAtMs,
  notAfterMs,
}: AcmeState): string[] {
  const which = `certificate ${name}${hostWords(hosts)}`
  const without = isServed
    ? "until it is issued, the one for the previous hosts is shown"
    : "until it is issued, TLS handshakes for its hosts fail"
  if (failures === 0) return notAfterMs === null ? [`${which} is ordered by ACME: ${without}`] : []
  const often = failures === 1 ? "" : `, ${failures} times`
  const next = retryAtMs === null ? "" : `; next attempt at ${new Date(retryAtMs).toISOString()}`
  const [what, meanwhile] =
    notAfterMs === null
      ? ["ordered", without]
      : ["renewed", `the present one ends on ${new Date(notAfterMs).toISOString().slice(0, 10)}`]
  return [`${which} could not be ${what}${often}: ${reason}${next}; ${meanwhile}`]
}

function hostWords(hosts: readonly string[]): string {
  return hosts.length === 0 ? "" : ` (${hosts.slice(0, 3).join(", ")}${hosts.length > 3 ? ", …" : ""})`
}

/** When certificates of listeners expire, and how many connections were refused or closed for what their clients sent. */
export function addCertificateMetrics(metrics: Metrics, parts: SecuredParts): void {
  metrics.gauge(
    "sallyport_certificate_not_after_seconds",
    "When a certificate of a listener expires, in seconds since 1970.",
    ["certificate"],
    () => certificatesIn(parts).map(({ name, notAfter }) => [[name], notAfter.getTime() / 1_000] as const),
    "min",
  )
  metrics.gauge(
    "sallyport_revocation_list_next_update_seconds",
    "When a revocation list for client certificates expires, in seconds since 1970.",
    ["file"],
    () => listsIn(parts).map(([file, endsMs]) => [[file], endsMs / 1_000] as const),
    "min",
  )
  const byReason = reasonsOf(parts)
  metrics.observableCounter(
    "sallyport_tls_handshakes_failed_total",
    "Connections that ended before their TLS handshake was complete, by reason.",
    ["listener", "reason"],
    byReason("handshakesFailed"),
  )
  metrics.observableCounter(
    "sallyport_http2_floods_total",
    "Connections of HTTP/2 that were closed because of a flood, by reason.",
    ["listener", "reason"],
    byReason("floods"),
  )
}

/** How many connections are closed before TLS and HTTP. */
export function addConnectionMetrics(metrics: Metrics, parts: SecuredParts): void {
  metrics.observableCounter(
    "sallyport_connections_refused_total",
    "Connections that were closed before TLS and HTTP: too many of one address, or no valid PROXY header.",
    ["listener", "reason"],
    reasonsOf(parts)("connectionsRefused"),
  )
}

/** Counts of all sides, with the side as first label. */
function reasonsOf(parts: SecuredParts) {
  const rows = (listener: string, counts: ReadonlyMap<string, number> | undefined) =>
    [...(counts ?? [])].map(([reason, count]) => [[listener, reason], count] as const)
  return (kind: "handshakesFailed" | "floods" | "connectionsRefused") => () => [
    ...rows("gateway", parts.gateway?.state()[kind]),
    ...rows("authz", parts.listeners?.[kind]),
    // The others do not count floods.
    ...(kind === "floods" ? [] : rows("control", parts.operators?.[kind])),
    ...(kind === "floods" ? [] : rows("portal", parts.portal?.[kind])),
  ]
}

/** Each file of revocation lists with the time when its first list expires; lists without such a time are left out. */
function listsIn({ gateway, listeners, operators, portal }: SecuredParts): [string, number][] {
  const ends = new Map<string, number>()
  for (const { file, nextUpdate } of [
    ...(gateway?.state().revocationLists ?? []),
    ...(listeners?.revocationLists ?? []),
    ...(operators?.revocationLists ?? []),
    ...(portal?.revocationLists ?? []),
  ])
    if (nextUpdate !== undefined)
      ends.set(file, Math.min(ends.get(file) ?? Number.POSITIVE_INFINITY, nextUpdate.getTime()))
  return [...ends]
}

/** Each certificate once: several listeners may show the same. */
export function certificatesIn({ gateway, listeners, operators, portal }: SecuredParts): ShownCertificate[] {
  const all = [gateway?.state(), listeners, operators, portal].flatMap((each) => each?.certificates ?? [])
  return [...new Map(all.map((each) => [each.name, each])).values()]
}
