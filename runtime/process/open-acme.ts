import { AcmeCertificates } from "../acme/acme-certificates.ts"
import type { Database } from "../store/database.ts"
import type { Metrics } from "../telemetry/metrics.ts"
import { keptCertificatesOf } from "./kept-certificates.ts"
import type { RuntimeSettings } from "./settings.ts"

/** The certificates from ACME of a process, with their metrics. */
export function openAcme(
  settings: RuntimeSettings,
  { database, metrics }: { readonly database: Database; readonly metrics: Metrics },
): AcmeCertificates {
  const { log, ordersCertificates } = settings
  const orders = metrics.counter(
    "sallyport_acme_orders_total",
    "Orders of certificates from ACME by this process, by result: `issued` or `failed`.",
    ["certificate", "result"],
  )
  const acme = new AcmeCertificates({
    ...{ database, log, orders: ordersCertificates ?? true, disk: keptCertificatesOf(settings) },
    onOrder: (certificate, result) => orders.series(certificate, result).add(),
  })
  metrics.gauge(
    "sallyport_acme_failures",
    "Orders of a certificate from ACME that failed since it was last issued.",
    ["certificate"],
    () => acme.states.map(({ name, failures }) => [[name], failures] as const),
    "max",
  )
  return acme
}
