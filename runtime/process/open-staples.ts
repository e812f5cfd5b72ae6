import type { HttpClient } from "../http/client/http-client.ts"
import { type AskResponder, OcspStaples, type StapleState } from "../http/server/ocsp-staples.ts"
import type { Log } from "../telemetry/log.ts"
import type { Metrics } from "../telemetry/metrics.ts"

const requestMs = 10_000
/** Responses have some kilobytes: most of it are certificates of the responder. */
const responseBytesMax = 65_536

/** The OCSP responses for the certificates of a process, with their metrics and log. `ask`: how responders are asked. */
export function openStaples(log: Log, metrics: Metrics, ask: AskResponder): OcspStaples {
  const staples = new OcspStaples({ ask, onChange: (state) => logStaple(log, state) })
  metrics.gauge(
    "sallyport_ocsp_next_update_seconds",
    "When the OCSP response stapled for a certificate expires, in seconds since 1970; 0: none is stapled.",
    ["certificate"],
    () => staples.states.map(({ name, endsMs = 0 }) => [[name], endsMs / 1_000] as const),
    "min",
  )
  metrics.gauge(
    "sallyport_ocsp_failures",
    "Failed attempts to get an OCSP response for a certificate since the last valid one.",
    ["certificate"],
    () => staples.states.map(({ name, failures }) => [[name], failures] as const),
    "max",
  )
  metrics.gauge(
    "sallyport_certificate_revoked",
    "1 while the authority says by OCSP that a certificate of a listener is revoked, else 0.",
    ["certificate"],
    () => staples.states.map(({ name, isRevoked }) => [[name], isRevoked ? 1 : 0] as const),
    "max",
  )
  return staples
}

/** Asks responders by POST (RFC 6960 §A.1), which all of them understand. */
export function responderClient(http: HttpClient): AskResponder {
  return async (url, body) => {
    const { status, body: response } = await http
      .send({
        ...{ url, method: "POST", body, timeoutMs: requestMs, responseBytesMax },
        headers: ["content-type", "application/ocsp-request", "accept", "application/ocsp-response"],
      })
      .catch((error: unknown) => {
        throw new Error(`sent no response: ${(error as Error).message}`)
      })
    if (status !== 200) throw new Error(`answered ${status}`)
    return response
  }
}

function logStaple(log: Log, { name, isRevoked, failures, reason, endsMs }: StapleState): void {
  const about = {
    certificate: name,
    ...(endsMs === undefined ? {} : { ends: new Date(endsMs).toISOString() }),
  }
  if (isRevoked)
    log.error(about, "the certificate is revoked: replace it; no OCSP response is stapled to its handshakes")
  else if (failures === 0) log.info(about, "the OCSP response of the certificate is valid again")
  else
    log.warn(
      { ...about, reason },
      endsMs === undefined
        ? "no OCSP response can be stapled for the certificate; it is asked for again"
        : "the OCSP response of the certificate cannot be renewed; the last one is stapled until it ends",
    )
}
