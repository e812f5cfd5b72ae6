import { readAuthorities, resolveReferences } from "../gateway/generation/references.ts"
import { collectorUrl, headerValue } from "../gateway/generation/tracer-of-plan.ts"
import { HttpClient } from "../http/client/http-client.ts"
import type { PlanBody } from "../plan/plan.ts"
import type { MetricsPlan } from "../plan/resources.ts"
import type { MetricFamily, Metrics } from "../telemetry/metrics.ts"
import { MetricExporter, type MetricPorts } from "../tracing/metric-exporter.ts"
import { resourceOf } from "./otlp-resource.ts"
import type { RuntimeSettings } from "./settings.ts"

/** What sending metrics needs of the settings of its process. */
type MetricPushSettings = Pick<RuntimeSettings, "log" | "version" | "env" | "cwd">

/** Sends the metrics of a process to the collector of the running plan, if it has one. */
export class MetricPush {
  readonly #settings: MetricPushSettings
  readonly #read: () => Promise<readonly MetricFamily[]>
  /** Its own, because it sends until everything else has ended. */
  readonly #http = new HttpClient()
  readonly #counts: MetricPorts["counts"] = { delivered: 0, rejected: 0, failed: 0 }
  readonly #startedMs = Date.now() - process.uptime() * 1000
  #key = ""
  /** The exporter, once it is open; each change waits for the one before. */
  #current: Promise<MetricExporter | undefined> = Promise.resolve(undefined)

  /** `read` returns the metrics to send; `metrics` gets those about sending them. */
  constructor(settings: MetricPushSettings, metrics: Metrics, read: () => Promise<readonly MetricFamily[]>) {
    this.#settings = settings
    this.#read = read
    metrics.observableCounter(
      "sallyport_metric_exports_total",
      "Requests with metrics to the collector, by outcome.",
      ["outcome"],
      () => Object.entries(this.#counts).map(([outcome, count]) => [[outcome], count] as const),
    )
  }

  /** Sends by the plan that is served, now and after each change of it. */
  follow(keeper: { onChange: () => void; readonly served: PlanBody | null }): void {
    const before = keeper.onChange
    keeper.onChange = () => {
      this.#use(keeper.served)
      before()
    }
    this.#use(keeper.served)
  }

  /** An exporter with the same settings goes on. */
  #use(plan: PlanBody | null): void {
    const metrics = plan?.gateway?.metrics
    const key =
      metrics === undefined ? "" : JSON.stringify([plan?.gateway?.name, metrics, plan?.values, plan?.secrets])
    if (key === this.#key) return
    this.#key = key
    const before = this.#current
    this.#current = before
      .then((exporter) => exporter?.close())
      .then(() => (plan === null || metrics === undefined ? undefined : this.#open(plan, metrics)))
      .catch((error: unknown) => {
        this.#settings.log.error(
          { reason: error instanceof Error ? error.message : String(error) },
          "metrics cannot be sent",
        )
        return undefined
      })
  }

  /** Sends the last values, for at most three seconds. */
  async close(): Promise<void> {
    await (await this.#current)?.close()
    await this.#http.close()
  }

  /** @throws Error for secrets, values and files that cannot be read */
  async #open(plan: PlanBody, { otlp, headers, tls, everyMs, delta }: MetricsPlan): Promise<MetricExporter> {
    const { log, version, env, cwd } = this.#settings
    const outside = { environment: env, folder: cwd }
    const wanted = new Set(headers.map(({ secret }) => secret))
    const references = await resolveReferences({ plan, origins: {} }, wanted, outside)
    const url = collectorUrl(references.text(otlp), "metrics")
    const ca = tls.ca === undefined ? undefined : await readAuthorities(outside, "`metrics`", tls.ca.file, [])
    const settings = {
      url: `${url.replace(/\/$/, "")}/v1/metrics`,
      headers: headers.flatMap((each) => [each.name, headerValue(references, each.secret, "metrics")]),
      ...(ca === undefined && !tls.insecure ? {} : { trust: { ca, insecure: tls.insecure } }),
      ...{ everyMs, delta: delta === true, version, startedMs: this.#startedMs },
      resource: resourceOf(plan.gateway?.name ?? "sallyport", version),
    }
    const onChange = (reason: string | undefined) =>
      reason === undefined
        ? log.info({ collector: url }, "the collector accepts metrics again")
        : log.warn({ collector: url, reason }, "the collector does not accept metrics")
    return new MetricExporter(settings, {
      http: this.#http,
      read: this.#read,
      counts: this.#counts,
      onChange,
    })
  }
}
