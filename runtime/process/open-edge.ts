import type { AcmeCertificates } from "../acme/acme-certificates.ts"
import type { AskResponder, OcspStaples } from "../http/server/ocsp-staples.ts"
import { TicketKeys, type TicketSeed } from "../http/server/ticket-keys.ts"
import type { Database } from "../store/database.ts"
import type { Metrics } from "../telemetry/metrics.ts"
import { openAcme } from "./open-acme.ts"
import { openStaples } from "./open-staples.ts"
import type { RuntimeSettings } from "./settings.ts"

/** What all listeners of a process share for their TLS. */
export interface Edge {
  readonly acme: AcmeCertificates
  readonly staples: OcspStaples
  readonly tickets: TicketKeys
  close(): Promise<void>
}

/** `ticketSeed`: that of the parent process (default: keys of its own). */
export function openEdge(
  settings: RuntimeSettings,
  parts: {
    readonly database: Database
    readonly metrics: Metrics
    readonly askResponder: AskResponder
    readonly ticketSeed?: TicketSeed | undefined
  },
): Edge {
  const { metrics, askResponder, ticketSeed } = parts
  const acme = openAcme(settings, parts)
  const staples = openStaples(settings.log, metrics, askResponder)
  const close = async () => {
    staples.close()
    await acme.close()
  }
  return { acme, staples, tickets: new TicketKeys(ticketSeed), close }
}

/** The same, as listeners of plans take it. */
export function listenerTlsOf({ acme, staples, tickets }: Edge) {
  return { managed: acme, staples, tickets }
}
