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
import { startReceiver } from "../support/otlp-receiver.ts"
import { until } from "../support/until.ts"
import { newGateway } from "./harness.ts"

test("spans of a call of gRPC have its service, method and status", async () => {
  const server = createServer()
  server.on("stream", (stream) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true })
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "9" }))
    stream.resume().end()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const [receiver, port] = [await startReceiver(), await freePort()]
  const text = `gateway edge { listen 127.0.0.1:${port} { http2 on }; tracing { otlp "${receiver.url}" } }
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
  await ask("/talk.Talk/Say")
  await ask("/talk.Other/Say")
  client.close()
  await gateway.close(1000)
  await until(() => receiver.spans.length >= 3)
  expect(receiver.faults).toEqual([])
  const shown = receiver.spans.map(({ name, kind, status, attributes }) => [
    ...[kind, name, status?.message],
    ...["rpc.system", "rpc.service", "rpc.method", "rpc.grpc.status_code"].map((key) => attributes[key]),
  ])
  expect(shown).toEqual([
    [2, "talk.Talk/Say", undefined, "grpc", "talk.Talk", "Say", 9],
    [3, "talk.Talk/Say", "grpc 9", "grpc", "talk.Talk", "Say", 9],
    // No route: the gateway responds, by `grpc-status` 12 (unimplemented).
    [2, "talk.Other/Say", undefined, "grpc", "talk.Other", "Say", 12],
  ])
  await Promise.all([tracing.close(), http.close(), receiver.close()])
  server.close()
})
