import { once } from "node:events"
import { connect } from "node:net"
import { expect, test } from "vitest"
import { authzLimits } from "../../runtime/authz/ports.ts"
import { describeServed, documentModel, type Served } from "./harness.ts"

const { bodyBytesMax } = authzLimits
const key = (at: number) => ({ user: `user:u${at}`, relation: "owner", object: "document:1" })

/** Bytes as they are over a socket of its own, and all that comes back. */
async function raw(served: Served, bytes: string): Promise<string> {
  const { hostname, port } = new URL(served.base)
  const socket = connect(Number(port), hostname)
  let received = ""
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    received += chunk
  })
  socket.on("error", () => undefined)
  socket.write(bytes)
  await once(socket, "close")
  return received
}

describeServed("limits of the API", (served) => {
  async function newStore(): Promise<string> {
    const { json } = await served().call("POST", "/stores", { name: "limits" })
    await served().call("POST", `/stores/${json.id}/authorization-models`, documentModel)
    return json.id
  }

  test("assertions that are more than OpenFGA takes fit, and a quarter of a megabyte is the end", async () => {
    const store = await newStore()
    const { json } = await served().call("GET", `/stores/${store}/authorization-models`)
    const put = (characters: number) =>
      served().call("PUT", `/stores/${store}/assertions/${json.authorization_models[0].id}`, {
        assertions: Array.from({ length: 100 }, (_, at) => ({
          tuple_key: key(at),
          expectation: true,
          context: { text: "x".repeat(characters) },
        })),
      })
    expect((await put(2_000)).status).toBe(204)
    const { status, json: answer } = await put(2_600)
    expect([status, answer]).toEqual([
      400,
      { code: "exceeded_entity_limit", message: "The number of bytes exceeds the allowed limit of 262144" },
    ])
  })

  test("100 tuples are taken, 101 refused", async () => {
    const store = await newStore()
    const write = (count: number) =>
      served().call("POST", `/stores/${store}/write`, {
        writes: { tuple_keys: Array.from({ length: count }, (_, at) => key(at)) },
      })
    const tooMany = {
      code: "exceeded_entity_limit",
      message: "The number of write operations exceeds the allowed limit of 100",
    }
    expect((await write(101)).json).toEqual(tooMany)
    expect((await write(100)).status).toBe(200)
    const both = await served().call("POST", `/stores/${store}/write`, {
      writes: { tuple_keys: Array.from({ length: 51 }, (_, at) => key(at + 1000)) },
      deletes: { tuple_keys: Array.from({ length: 50 }, (_, at) => key(at)) },
    })
    expect(both.json).toEqual(tooMany)
  })

  test("100 contextual tuples are taken, 101 refused", async () => {
    const store = await newStore()
    const check = (count: number) =>
      served().call("POST", `/stores/${store}/check`, {
        tuple_key: key(0),
        contextual_tuples: { tuple_keys: Array.from({ length: count }, (_, at) => key(at)) },
      })
    expect((await check(100)).json).toEqual({ allowed: true, resolution: "" })
    expect((await check(101)).json).toEqual({
      code: "validation_error",
      message: "invalid ContextualTupleKeys.TupleKeys: value must contain no more than 100 item(s)",
    })
  })

  test.each(["check", "write"])(
    "a body over the limit on /%s is 413, by its length and chunked",
    async (route) => {
      const store = await newStore()
      const refused = {
        code: "resource_exhausted",
        message: `the request body is larger than ${bodyBytesMax} bytes`,
      }
      const body = JSON.stringify({ tuple_key: key(0), padding: "x".repeat(bodyBytesMax) })
      const head = `POST /stores/${store}/${route} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n`
      for (const framed of [
        `${head}Content-Length: ${body.length}\r\n\r\n${body}`,
        `${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
      ]) {
        const answer = await raw(served(), framed)
        expect(answer.split("\r\n")[0]).toBe("HTTP/1.1 413 Payload Too Large")
        expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")))).toEqual(refused)
      }
      const fits = JSON.stringify({ tuple_key: key(0), padding: "x".repeat(bodyBytesMax - 200) })
      expect((await served().call("POST", `/stores/${store}/check`, fits)).status).toBe(200)
    },
  )

  test("a check in pieces, and one without a content type", async () => {
    const store = await newStore()
    const body = JSON.stringify({ tuple_key: key(0) })
    const head = `POST /stores/${store}/check HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`
    const pieces = [body.slice(0, 7), body.slice(7)].map(
      (piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`,
    )
    const answer = await raw(served(), `${head}Transfer-Encoding: chunked\r\n\r\n${pieces.join("")}0\r\n\r\n`)
    expect(answer).toContain('{"allowed":false,"resolution":""}')
    expect(
      await raw(served(), `${head}Content-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
    ).toContain('{"allowed":false,"resolution":""}')
    const stores = `POST /stores HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 16\r\n\r\n{"name":"plain"}`
    expect(await raw(served(), stores)).toContain("201 Created")
  })

  test.each([
    ["deep", `{"tuple_key":${"[".repeat(100_000)}`],
    [
      "deep and closed",
      `{"tuple_key":{"user":"user:a","relation":"owner","object":"document:1"},"context":${'{"a":'.repeat(5000)}1${"}".repeat(5001)}`,
    ],
    ["not UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ["with a BOM", "\ufeff{}"],
    ["binary", new Uint8Array([0, 1, 2, 3])],
  ])("a body that is %s is a 400", async (_, body) => {
    const store = await newStore()
    for (const route of ["check", "write", "read", "authorization-models"]) {
      const answer = await served().call("POST", `/stores/${store}/${route}`, body)
      if (route === "read" && answer.status === 200) continue
      expect(answer.status, `${route} ${answer.text}`).toBe(400)
    }
  })

  test("what was used is in the headers", async () => {
    const store = await newStore()
    const { json } = await served().call("GET", `/stores/${store}/authorization-models`)
    const model = json.authorization_models[0].id
    const write = await served().call("POST", `/stores/${store}/write`, { writes: { tuple_keys: [key(0)] } })
    const check = await served().call("POST", `/stores/${store}/check`, { tuple_key: key(0) })
    for (const { headers } of [write, check]) {
      expect(headers.get("content-type")).toBe("application/json")
      expect(headers.get("openfga-store-id")).toBe(store)
      expect(headers.get("openfga-authorization-model-id")).toBe(model)
    }
    expect(check.headers.get("sallyport-revision")).toBe("1")
    expect(check.headers.get("x-request-id")).not.toBe(write.headers.get("x-request-id"))
  })
})
