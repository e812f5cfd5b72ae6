import type { ClientHttp2Session, OutgoingHttpHeaders } from "node:http2"
import { connect } from "node:net"
import { create, fromJson, toBinary } from "@bufbuild/protobuf"
import { afterAll, beforeAll, expect, test } from "vitest"
import { registry } from "../../runtime/authz/grpc/descriptors.ts"
import { codecOf } from "../../runtime/authz/grpc/message-codec.ts"
import { authzLimits } from "../../runtime/authz/ports.ts"
import { askHttp2, type Http2Answer, http2Session } from "../support/http2-client.ts"
import { until } from "../support/until.ts"
import { describeGrpc } from "./grpc-served.ts"

const check = "/openfga.v1.OpenFGAService/Check"
const healthCheck = "/grpc.health.v1.Health/Check"

const framed = (message: Uint8Array, flag = 0): Buffer => {
  const prefix = Buffer.alloc(5)
  prefix[0] = flag
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

const messageOf = (name: string, json: object): Uint8Array => {
  const type = registry.getMessage(name)
  if (type === undefined) throw new Error(name)
  return toBinary(type, fromJson(type, json as Parameters<typeof fromJson>[1]) ?? create(type))
}

/** The server's deadline. */
let requestMs = 600_000
/** Whether the engine is healthy; calls that ask wait for it. */
let healthy: Promise<boolean> = Promise.resolve(true)
const release: (() => void)[] = []
let asked = 0
const block = (): void => {
  asked = 0
  healthy = new Promise((resolve) => release.push(() => resolve(true)))
}

describeGrpc(
  "bad and late calls",
  (served) => {
    let session: ClientHttp2Session
    beforeAll(() => {
      session = http2Session(served().port)
    })
    afterAll(() => session.destroy())

    const call = (path: string, body: Buffer | undefined, headers: OutgoingHttpHeaders = {}) =>
      askHttp2(session, { ...head, ":path": path, ...headers }, body)
    const head = { ":method": "POST", "content-type": "application/grpc", te: "trailers" }
    const statusOf = ({ headers, trailers }: Http2Answer) => {
      const fields = headers["grpc-status"] === undefined ? trailers : headers
      return [Number(fields["grpc-status"]), decodeURIComponent(String(fields["grpc-message"] ?? ""))]
    }
    const valid = () =>
      messageOf("openfga.v1.CheckRequest", {
        store_id: served().acme,
        tuple_key: { user: "user:ann", relation: "viewer", object: "document:1" },
      })

    test("are refused with a status that says what is wrong", async () => {
      const rows: [body: Buffer, status: number, words: RegExp][] = [
        [Buffer.alloc(0), 13, /no message/],
        [Buffer.concat([framed(valid()), framed(valid())]), 13, /more than one message/],
        [framed(valid()).subarray(0, 20), 13, /the body ends within it/],
        [Buffer.from("{}"), 13, /the body ends within it/],
        [framed(Buffer.from("garbage, no protobuf at all")), 13, /not valid protobuf/],
        [framed(Buffer.from([0x0a, 0xff, 0x01, 0x41])), 13, /not valid protobuf/],
        [framed(Buffer.from([0x0a, 0x02, 0xc3, 0x28])), 13, /not UTF-8/],
        [framed(valid(), 1), 12, /compressed/],
        [framed(Buffer.alloc(authzLimits.bodyBytesMax + 1)), 8, /larger than max \(616449 vs\. 616448\)/],
        [Buffer.from([0, 0xff, 0xff, 0xff, 0xff]), 8, /larger than max \(4294967295/],
      ]
      for (const [body, status, words] of rows) {
        const answer = await call(check, body)
        expect([answer.status, ...statusOf(answer)]).toEqual([200, status, expect.stringMatching(words)])
        expect(answer.body).toHaveLength(0)
      }
    })

    test("a context deeper than any real one is refused", async () => {
      let context: object = {}
      for (let depth = 0; depth < 200; depth++) context = { a: context }
      const answer = await call(check, framed(codecOf("openfga.v1.CheckRequest").encode({ context })))
      expect(statusOf(answer)).toEqual([13, expect.stringMatching(/within each other/)])
    })

    test("unknown methods and other codecs are unimplemented", async () => {
      const body = framed(valid())
      for (const path of ["/openfga.v1.OpenFGAService/Nothing", "/shop.Orders/Get", "/", "/stores"])
        expect(statusOf(await call(path, body))).toEqual([12, expect.stringMatching(/unknown method/)])
      const json = { "content-type": "application/grpc+json" }
      expect(statusOf(await call(check, body, json))).toEqual([12, expect.stringMatching(/protobuf/)])
      expect(statusOf(await call(check, body, { "content-type": "application/grpc+proto" }))[0]).toBe(0)
      expect(statusOf(await call(check, body, { te: undefined }))).toEqual([
        ...[13, expect.stringMatching(/te: trailers/)],
      ])
    })

    test("requests that are no calls get a response of HTTP", async () => {
      const json = await call("/stores", Buffer.from("{}"), { "content-type": "application/json" })
      expect(json.status).toBe(415)
      expect(JSON.parse(json.body.toString())).toMatchObject({ code: "unsupported_media_type" })
      const answer = await fetch(`http://127.0.0.1:${served().port}/stores`)
      expect(answer.status).toBe(505)
      expect(await answer.json()).toMatchObject({
        ...{ code: "version_not_supported", message: expect.stringMatching(/gRPC, which needs HTTP\/2/) },
      })
    })

    test("bytes of TLS on a port without it close the connection", async () => {
      const socket = connect(served().port, "127.0.0.1")
      socket.on("error", () => undefined)
      socket.resume()
      socket.write(Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 1, 0, 0, 1, 0]))
      await until(() => socket.destroyed || socket.readableEnded)
      socket.destroy()
    })

    test("any host is accepted", async () => {
      const answer = await call(check, framed(valid()), { ":authority": "openfga:8081" })
      expect(statusOf(answer)[0]).toBe(0)
    })

    test("the deadline of the client ends a call, also one that is longer than any", async () => {
      block()
      const late = await call(healthCheck, framed(Buffer.alloc(0)), { "grpc-timeout": "20m" })
      expect(statusOf(late)).toEqual([4, "the deadline of the call is over"])
      for (const each of release.splice(0)) each()
      healthy = Promise.resolve(true)
      const patient = await call(healthCheck, framed(Buffer.alloc(0)), { "grpc-timeout": "99999999H" })
      expect(statusOf(patient)[0]).toBe(0)
    })

    test("the deadline of the server has OpenFGA's number", async () => {
      block()
      requestMs = 50
      expect(statusOf(await call(healthCheck, framed(Buffer.alloc(0))))).toEqual([
        ...[4004, "Request Deadline Exceeded"],
      ])
      requestMs = 600_000
      for (const each of release.splice(0)) each()
    })

    test("closing completes calls and ends connections", async () => {
      block()
      const open = call(healthCheck, framed(Buffer.alloc(0)))
      await until(() => asked > 0)
      const closed = served().listeners.close(60_000)
      await until(() => session.closed)
      for (const each of release.splice(0)) each()
      expect(statusOf(await open)[0]).toBe(0)
      await closed
    })
  },
  {
    healthy: () => {
      asked += 1
      return healthy
    },
    limits: () => ({ ...authzLimits, requestMs }),
  },
)
