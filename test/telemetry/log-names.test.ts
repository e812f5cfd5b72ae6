import { createRequire } from "node:module"
import { pino } from "pino"
import { describe, expect, test } from "vitest"
import { EngineLog } from "../../runtime/process/engine-log.ts"
import { createLog, type Log, logOfWorker } from "../../runtime/telemetry/log.ts"
import { ecsVersion, engineFieldNames, fieldNames, type LogNames } from "../../runtime/telemetry/log-names.ts"
import { run } from "../cli/run.ts"

/** Fields of ECS 9.3.0 in the sets that requests and processes have (github.com/elastic/ecs, generated/elasticsearch/composable/component). */
const publishedEcs = new Set([
  ...[
    "@timestamp",
    "message",
    "ecs.version",
    "log.level",
    "log.logger",
    "trace.id",
    "span.id",
    "transaction.id",
  ],
  ...[
    "http.request.id",
    "http.request.method",
    "http.request.bytes",
    "http.request.body.bytes",
    "http.version",
  ],
  ...["http.response.status_code", "http.response.bytes", "http.response.body.bytes", "url.path", "url.full"],
  ...["event.action", "event.duration", "event.outcome", "event.reason", "error.code", "error.id"],
  ...["error.message", "error.stack_trace", "error.type", "client.ip", "client.address", "client.port"],
  ...["user.id", "user.name", "process.pid", "network.protocol", "server.address", "service.name"],
])

const conventions: Record<string, unknown> = createRequire(
  createRequire(import.meta.url).resolve("@opentelemetry/otlp-transformer"),
)("@opentelemetry/semantic-conventions/incubating")
/** Attributes of OpenTelemetry, and the fields of its data model of logs. */
const publishedOtel = new Set([...Object.values(conventions), "trace_id", "span_id"])

const line = {
  ...{
    request_id: "r1",
    protocol: "HTTP/2",
    method: "GET",
    path: "/a",
    status: 403,
    grpc_status: 7,
    ms: 1.84,
  },
  ...{ route: "GET /a", ip: "192.0.2.7", user: "bob", bytes_in: 1, bytes_out: 2, cause: "why", backend: "b" },
  ...{ trace_id: "0af7", span_id: "b7ad", answered_by: { step: "require" }, upstream_ms: undefined },
}

/** Lines that a log with these names writes. */
function linesOf(names: LogNames | undefined, write: (log: Log) => void): Record<string, unknown>[] {
  const lines: string[] = []
  write(
    createLog({
      ...(names === undefined ? {} : { names }),
      stream: { write: (text) => void lines.push(text) },
    }),
  )
  return lines.map((text) => JSON.parse(text))
}

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/)

test("every name is published, or begins with `sallyport.`", () => {
  const rows = [...Object.values(fieldNames), ...Object.values(engineFieldNames)]
  const unknown = (names: readonly string[], published: ReadonlySet<unknown>) =>
    names.filter((name) => !name.startsWith("sallyport.") && !published.has(name))
  expect(
    unknown(
      rows.map(({ ecs }) => ecs),
      publishedEcs,
    ),
  ).toEqual([])
  expect(
    unknown(
      rows.map(({ otel }) => otel),
      publishedOtel,
    ),
  ).toEqual([])
})

describe("a line", () => {
  test("has the names of the manual by default, and no formatter runs", () => {
    expect(linesOf(undefined, (log) => log.info(line, "text"))).toEqual([
      { level: "info", time, ...JSON.parse(JSON.stringify(line)), msg: "text" },
    ])
    const log = createLog({ level: "silent" }) as unknown as Readonly<Record<symbol, { log?: unknown }>>
    expect(log[pino.symbols.formattersSym]?.log).toBeUndefined()
  })

  test("has the names of ECS", () => {
    expect(linesOf("ecs", (log) => log.info(line, "text"))).toEqual([
      {
        ...{ "@timestamp": time, "log.level": "info", "ecs.version": ecsVersion, message: "text" },
        ...{ "http.request.id": "r1", "http.version": "2", "http.request.method": "GET", "url.path": "/a" },
        ...{ "http.response.status_code": 403, "sallyport.grpc_status": 7, "event.duration": 1_840_000 },
        ...{
          "sallyport.route": "GET /a",
          "client.ip": "192.0.2.7",
          "user.name": "bob",
          "error.message": "why",
        },
        ...{ "http.request.body.bytes": 1, "http.response.body.bytes": 2, "sallyport.backend": "b" },
        ...{ "trace.id": "0af7", "span.id": "b7ad", "sallyport.answered_by": { step: "require" } },
      },
    ])
  })

  test("has the names of OpenTelemetry", () => {
    expect(linesOf("otel", (log) => log.warn(line, "text"))).toEqual([
      {
        ...{ timestamp: time, severity_text: "WARN", severity_number: 13, body: "text" },
        ...{ "sallyport.request_id": "r1", "network.protocol.version": "2", "http.request.method": "GET" },
        ...{
          "url.path": "/a",
          "http.response.status_code": 403,
          "rpc.grpc.status_code": 7,
          "sallyport.ms": 1.84,
        },
        ...{
          "http.route": "GET /a",
          "client.address": "192.0.2.7",
          "user.name": "bob",
          "exception.message": "why",
        },
        ...{ "http.request.body.size": 1, "http.response.body.size": 2, "sallyport.backend": "b" },
        ...{ trace_id: "0af7", span_id: "b7ad", "sallyport.answered_by": { step: "require" } },
      },
    ])
  })

  test("of a worker names its process", () => {
    const write = (names: LogNames) => linesOf(names, (log) => logOfWorker(log, 7, names).info("x"))[0]
    expect(write("sallyport")).toMatchObject({ worker: 7 })
    expect(write("ecs")).toMatchObject({ "process.pid": 7 })
    expect(write("otel")).toMatchObject({ "process.pid": 7 })
  })

  test("of an error has its message, kind and stack", () => {
    const write = (log: Log) => log.error({ err: new TypeError("broken") }, "x")
    expect(linesOf("ecs", write)[0]).toMatchObject({
      ...{ "error.message": "broken", "error.type": "TypeError" },
      "error.stack_trace": expect.stringContaining("log-names.test"),
    })
    expect(linesOf("otel", write)[0]).toMatchObject({
      ...{ "exception.message": "broken", "exception.type": "TypeError" },
      "exception.stacktrace": expect.stringContaining("log-names.test"),
    })
  })

  test("has no secret that the usual names hide", () => {
    const secret = "canary-of-names"
    for (const names of ["sallyport", "ecs", "otel"] as const) {
      const write = (log: Log) =>
        log.info({ token: secret, authorization: secret, headers: { cookie: secret, "x-api-key": secret } })
      expect(JSON.stringify(linesOf(names, write)), names).not.toContain(secret)
    }
  })

  test("of the engine has the names of its spans", () => {
    const lines = linesOf("ecs", (log) => {
      const engineLog = new EngineLog(log, log)
      engineLog.ended(
        {
          ...{ method: "ListObjects", store: "acme", outcome: "ok", durationMs: 2_000 },
          work: { steps: 70, pagesUsed: 4, pagesRead: 1, reads: undefined },
          question: { user: "user:ann", relation: "viewer", type: "doc" },
        },
        "acme",
      )
    })
    expect(lines[0]).toMatchObject({
      ...{
        message: "slow question",
        "sallyport.engine.method": "ListObjects",
        "sallyport.engine.store": "acme",
      },
      ...{ "sallyport.engine.outcome": "ok", "sallyport.engine.steps": 70, "event.duration": 2e9 },
    })
    expect(lines[0]).not.toHaveProperty(["http.request.method"])
  })
})

test("an unknown value is an error of the command", async () => {
  expect(await run({ cwd: ".", env: { SALLYPORT_LOG_NAMES: "ECS" } }, "serve")).toMatchObject({
    code: 1,
    err: expect.stringContaining(
      "SALLYPORT_LOG_NAMES has an unknown value: ECS\nhelp: Use one of sallyport, ecs, otel",
    ),
  })
})
