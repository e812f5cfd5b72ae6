/** How the fields of log lines are named: as the manual describes them, by the Elastic Common Schema, or by OpenTelemetry. */
export type LogNames = "sallyport" | "ecs" | "otel"

/** The names of a field. */
export interface FieldNames {
  readonly ecs: string
  readonly otel: string
  /** The value in the unit of ECS, where it is another one. */
  readonly inEcs?: (value: unknown) => unknown
  /** The value as both conventions write it. */
  readonly value?: (value: unknown) => unknown
}

/** The version of ECS whose names these are. */
export const ecsVersion = "9.3.0"

const both = (name: string): FieldNames => ({ ecs: name, otel: name })
const own = (name: string): FieldNames => both(`sallyport.${name}`)
const nanoseconds = (ms: unknown) => (typeof ms === "number" ? Math.round(ms * 1e6) : ms)
/** `2` of `HTTP/2`. */
const versionOf = (protocol: unknown) => String(protocol).replace(/^HTTP\//, "")

/** Fields with a name in ECS or OpenTelemetry, and those that spans have too. Any other field gets `sallyport.` before its name. */
export const fieldNames: Readonly<Record<string, FieldNames>> = {
  request_id: { ecs: "http.request.id", otel: "sallyport.request_id" },
  method: both("http.request.method"),
  path: both("url.path"),
  protocol: { ecs: "http.version", otel: "network.protocol.version", value: versionOf },
  status: both("http.response.status_code"),
  grpc_status: { ecs: "sallyport.grpc_status", otel: "rpc.grpc.status_code" },
  ms: { ecs: "event.duration", otel: "sallyport.ms", inEcs: nanoseconds },
  route: { ecs: "sallyport.route", otel: "http.route" },
  ip: { ecs: "client.ip", otel: "client.address" },
  client: { ecs: "client.ip", otel: "client.address" },
  user: both("user.name"),
  bytes_in: { ecs: "http.request.body.bytes", otel: "http.request.body.size" },
  bytes_out: { ecs: "http.response.body.bytes", otel: "http.response.body.size" },
  cause: { ecs: "error.message", otel: "exception.message" },
  error: { ecs: "error.message", otel: "exception.message" },
  trace_id: { ecs: "trace.id", otel: "trace_id" },
  span_id: { ecs: "span.id", otel: "span_id" },
  worker: both("process.pid"),
}

/** Fields of lines of the engine that have another meaning there, named as in its spans. */
export const engineFieldNames: Readonly<Record<string, FieldNames>> = Object.fromEntries(
  ["method", "store", "model", "outcome", "steps", "pages_used", "pages_read"].map((name) => [
    name,
    own(`engine.${name}`),
  ]),
)

/** Methods of the engine are `Check` or `ListObjects`, those of HTTP have no small letters. */
const isOfEngine = ({ method }: Readonly<Record<string, unknown>>) =>
  typeof method === "string" && /[a-z]/.test(method)

/**
 * Renames the fields of a line. `kept`: fields that are not renamed. Undefined fields are left out, and an error becomes its message, its kind and its
 * stack.
 */
export function renamedFields(
  line: Readonly<Record<string, unknown>>,
  names: "ecs" | "otel",
  kept: ReadonlySet<string>,
): Record<string, unknown> {
  const engine = isOfEngine(line) ? engineFieldNames : {}
  const renamed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(line)) {
    if (value === undefined) continue
    if (value instanceof Error) Object.assign(renamed, errorFields(value, names))
    else if (kept.has(name)) renamed[name] = value
    else {
      const row = engine[name] ?? fieldNames[name] ?? own(name)
      const shown = row.value?.(value) ?? value
      renamed[row[names]] = names === "ecs" ? (row.inEcs?.(shown) ?? shown) : shown
    }
  }
  return renamed
}

function errorFields({ message, name, stack }: Error, names: "ecs" | "otel"): Record<string, unknown> {
  return names === "ecs"
    ? { "error.message": message, "error.type": name, "error.stack_trace": stack }
    : { "exception.message": message, "exception.type": name, "exception.stacktrace": stack }
}

/** Numbers of severity in OpenTelemetry's data model of logs, by level. */
const severities: Readonly<Record<string, number>> = {
  trace: 1,
  debug: 5,
  info: 9,
  warn: 13,
  error: 17,
  fatal: 21,
}

/** The level of a line. */
export function levelFields(level: string, names: LogNames): Record<string, unknown> {
  if (names === "ecs") return { "log.level": level, "ecs.version": ecsVersion }
  if (names === "otel") return { severity_text: level.toUpperCase(), severity_number: severities[level] }
  return { level }
}

/** Names of the time and of the message. */
export const lineNames: {
  readonly [Names in LogNames]: { readonly time: string; readonly message: string }
} = {
  sallyport: { time: "time", message: "msg" },
  ecs: { time: "@timestamp", message: "message" },
  otel: { time: "timestamp", message: "body" },
}
