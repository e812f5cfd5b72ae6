import { shownUrl } from "../../http/client/shown-url.ts"
import { digestOf } from "../../plan/canonical.ts"
import type { PlanBody } from "../../plan/plan.ts"
import type { SamplingRules, Tracer } from "../../tracing/tracer.ts"
import type { Held } from "./held.ts"
import type { References } from "./references.ts"

/** Where traces are sent, and which. */
export interface TracerSettings {
  /** `service.name` of all spans. */
  readonly service: string
  /** Base URL of the collector. */
  readonly url: string
  /** Names and values alternate. */
  readonly headers: readonly string[]
  /** PEM of the authorities that sign the collector's certificate; absent: those of the system. */
  readonly ca: string | undefined
  readonly insecure: boolean
  readonly rules: SamplingRules
}

/** Opens a tracer; `close` sends what waits, in the background. */
export type OpenTracer = (settings: TracerSettings) => { readonly value: Tracer; close(): void }

/** What opening a tracer needs. */
export interface TracerMaker {
  readonly references: References
  readonly dependencies: { readonly openTracer?: OpenTracer | undefined }
  attemptLater(place: string, make: () => Promise<void>): Promise<void>
  readAuthorities(what: string, file: string): Promise<string>
  take<T>(before: Held<T> | undefined, key: string, make: () => { value: T; close: () => void }): Held<T>
}

/** Opens the tracer of a plan, or keeps that of the previous plan. A collector that is unavailable refuses no plan. */
export async function provisionTracer(
  maker: TracerMaker,
  { gateway }: PlanBody,
  previous: { readonly tracer: Held<Tracer> | undefined } | undefined,
): Promise<Held<Tracer> | undefined> {
  const { openTracer } = maker.dependencies
  if (gateway?.tracing === undefined || openTracer === undefined) return undefined
  const { name, tracing } = gateway
  const { references } = maker
  let found: Held<Tracer> | undefined
  await maker.attemptLater("gateway", async () => {
    const { ca, insecure } = tracing.tls
    const shares = Object.entries(tracing.apis ?? {}).map(([api, each]) => [api, each / 100] as const)
    const settings = {
      service: name,
      url: collectorUrl(references.text(tracing.otlp), "tracing"),
      headers: tracing.headers.flatMap((each) => [
        each.name,
        headerValue(references, each.secret, "tracing"),
      ]),
      ca: ca === undefined ? undefined : await maker.readAuthorities("`tracing`", ca.file),
      insecure,
    }
    const rules = {
      share: tracing.sample / 100,
      errors: tracing.errors === true,
      slowerMs: tracing.slowerMs,
    }
    // Undefined members have no JSON.
    const key = digestOf(JSON.parse(JSON.stringify({ ...settings, ...rules, shares })))
    found = maker.take(previous?.tracer, key, () =>
      openTracer({ ...settings, rules: { ...rules, shareOf: new Map(shares) } }),
    )
  })
  return found
}

/**
 * Checks the URL of a collector; `block`: where it is written.
 * @throws Error if the text is not a URL of HTTP: it may come from the environment
 */
export function collectorUrl(text: string, block: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new Error(
      `\`otlp\` of \`${block}\`: \`${shownUrl(text)}\` is not a URL with \`http:\` or \`https:\``,
    )
  return text
}

/**
 * The value of a header for a collector; `block`: where it is written.
 * @throws Error if the secret cannot be the value of a field
 */
export function headerValue(references: References, secret: string, block: string): string {
  const value = references.secrets.get(secret) ?? ""
  if (!/^[\t\x20-\x7e]*$/.test(value))
    throw new Error(
      `\`header\` of \`${block}\`: the secret \`${secret}\` contains characters that a header cannot have`,
    )
  return value
}
