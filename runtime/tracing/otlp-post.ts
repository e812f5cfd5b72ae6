import type { OutgoingHttp } from "../http/client/http-client.ts"

/** A path of a collector, and how it is called. */
export interface OtlpTarget {
  /** The full URL: `http://collector:4318/v1/traces`. */
  readonly url: string
  /** Names and values alternate. */
  readonly headers: readonly string[]
  /** How the collector's certificate is verified (PEM); absent: by the system's authorities. */
  readonly trust?: { readonly ca: string | undefined; readonly insecure: boolean }
}

/** What became of a request. `refused`: parts that the collector did not take, although it accepted the request. */
export type OtlpOutcome =
  | { readonly outcome: "delivered"; readonly refused: number; readonly reason: string }
  | { readonly outcome: "rejected"; readonly reason: string }
  | { readonly outcome: "failed"; readonly reason: string; readonly afterMs: number }

const timeoutMs = 10_000
const responseBytesMax = 64 * 1024
/** Statuses after which a client of OTLP repeats the request. */
const retryable: ReadonlySet<number> = new Set([429, 502, 503, 504])

/** Sends a body to a collector, as JSON. Never rejects. */
export async function postOtlp(
  http: OutgoingHttp,
  { url, headers, trust }: OtlpTarget,
  body: Buffer,
  signal: AbortSignal,
): Promise<OtlpOutcome> {
  try {
    const response = await http.send({
      ...{ url, method: "POST", body, timeoutMs, responseBytesMax, signal },
      headers: ["content-type", "application/json", ...headers],
      ...(trust === undefined ? {} : { trust }),
    })
    return readResponse(response)
  } catch (error) {
    return { outcome: "failed", reason: error instanceof Error ? error.message : String(error), afterMs: 0 }
  }
}

/** Reads a response of the collector (OTLP specification, "OTLP/HTTP Response"). */
function readResponse(response: Awaited<ReturnType<OutgoingHttp["send"]>>): OtlpOutcome {
  const { status, fields, body } = response
  if (status >= 200 && status < 300) return { outcome: "delivered", ...partialSuccess(body) }
  const reason = `it responded with ${status}`
  if (!retryable.has(status)) return { outcome: "rejected", reason }
  const at = fields.indexOf("retry-after")
  return { outcome: "failed", reason, afterMs: at === -1 ? 0 : retryAfterMs(fields[at + 1] ?? "") }
}

/** Retry-After in milliseconds, at most a minute: seconds or a date (RFC 9110 §10.2.3). */
function retryAfterMs(text: string): number {
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return ms > 0 ? Math.min(ms, 60_000) : 0
}

/** What the collector refused of a batch that it accepted. A body of another form says nothing. */
function partialSuccess(body: Buffer): { refused: number; reason: string } {
  try {
    const { partialSuccess: partial } = JSON.parse(body.toString())
    const refused = Number(partial?.rejectedSpans ?? partial?.rejectedDataPoints ?? 0)
    if (refused > 0) return { refused, reason: String(partial.errorMessage ?? "").slice(0, 200) }
  } catch {
    // Not JSON.
  }
  return { refused: 0, reason: "" }
}
