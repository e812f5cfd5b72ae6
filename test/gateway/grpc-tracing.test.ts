import { once } from "node:events"
import { connect, createServer } from "node:http2"
import type { AddressInfo } from "node:net"
import { expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { HttpClient } from "../../runtime/http/client/http-client.ts"
import { Tracing } from "../../runtime/process/tracing.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { Metrics } from "../../runtime/telemetry/metrics.ts"
import { compile } from "../compile.ts"
import { freePort } from "../support/free-port.ts"
import { type ReceivedSpan, startReceiver } from "../support/otlp-receiver.ts"
import { until } from "../support/until.ts"
import { newGateway } from "./harness.ts"

/**
 * A gateway with traces before a backend of gRPC, which responds with the code that the path of a call ends with, in trailers. Asks for the paths, and
 * returns the spans, of which there are `count`.
 */
async function spansOf(statements: string, paths: readonly string[], count: number): Promise<ReceivedSpan[]> {
  const server = createServer()
  server.on("stream", (stream, { ":path": path = "" }) => {
    const code = /\d+$/.exec(path)?.[0]
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true })
    stream.on("wantTrailers", () => stream.sendTrailers(code === undefined ? {} : { "grpc-status": code }))
    stream.resume().end()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const [receiver, port] = [await startReceiver(), await freePort()]
  const text = `gateway edge { listen 127.0.0.1:${port} { http2 on }; tracing { otlp "${receiver.url}"; ${statements} } }
    backend talk { url "http://127.0.0.1:${(server.address() as AddressInfo).port}"; http2 h2c }
    api talk { path "/"; backend talk; auth none; POST "/talk.Talk/{method}" }`
  const { plan, diagnostics } = compile(new MemoryFiles([["gateway.conf", text]]), "gateway.conf")
  if (plan === undefined) throw new Error(JSON.stringify(diagnostics, null, 1))
  const http = new HttpClient()
  const tracing = new Tracing({ http, log: createLog({ level: "silent" }), version: "1" }, new Metrics())
  const gateway = newGateway({
    observer: { finished: () => undefined },
    openTracer: tracing.open,
    folder: process.cwd(),
  })
  await gateway.apply(plan)
  const client = connect(`http://127.0.0.1:${port}`)
  const ask = async (path: string) => {
    const fields = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" }
    const stream = client.request(fields)
    stream.end().resume()
    await once(stream, "close")
  }
  for (const path of paths) await ask(path)
  client.close()
  await gateway.close(1000)
  await until(() => receiver.spans.length >= count)
  expect(receiver.faults).toEqual([])
  await Promise.all([tracing.close(), http.close(), receiver.close()])
  server.close()
  return receiver.spans
}

test("spans of a call of gRPC have its service, method and status", async () => {
  const paths = ["/talk.Talk/Say9", "/talk.Talk/Say0", "/talk.Other/Say"]
  const spans = await spansOf("", paths, 5)
  const shown = spans.map(({ name, kind, status, attributes }) => [
    ...[kind, name, status?.message],
    ...["rpc.system", "rpc.service", "rpc.method", "rpc.grpc.status_code"].map((key) => attributes[key]),
  ])
  expect(shown).toEqual([
    // The caller's mistake: the server's span has no error, the client's has one.
    [2, "talk.Talk/Say9", undefined, "grpc", "talk.Talk", "Say9", 9],
    [3, "talk.Talk/Say9", "grpc 9", "grpc", "talk.Talk", "Say9", 9],
    [2, "talk.Talk/Say0", undefined, "grpc", "talk.Talk", "Say0", 0],
    [3, "talk.Talk/Say0", undefined, "grpc", "talk.Talk", "Say0", 0],
    // No route: the gateway responds, by `grpc-status` 12 (unimplemented).
    [2, "talk.Other/Say", "not-found", "grpc", "talk.Other", "Say", 12],
  ])
})

test("`always errors` keeps calls that failed on the server with status 200", async () => {
  const codes = ["", ...Array.from({ length: 17 }, (_, code) => code)]
  const paths = codes.map((code) => `/talk.Talk/Say${code}`)
  const spans = await spansOf("sample 0%; always errors", [...paths, "/talk.Other/Say"], 15)
  const kept = spans.filter(({ kind }) => kind === 2)
  expect(kept.map(({ name, status }) => [name, status?.message])).toEqual([
    // Without a status, clients read UNKNOWN.
    ["talk.Talk/Say", "grpc 2"],
    ...[2, 4, 12, 13, 14, 15].map((code) => [`talk.Talk/Say${code}`, `grpc ${code}`]),
    ["talk.Other/Say", "not-found"],
  ])
  expect(kept[1]?.attributes).toMatchObject({ "http.response.status_code": 200, "error.type": "grpc 2" })
})
