import { type AddressInfo, createServer } from "node:net"
import { connect } from "node:tls"
import fc from "fast-check"
import { expect, test } from "vitest"
import { namedHost } from "../../runtime/http/server/client-hello.ts"

/** The first message that Node's client sends, as one record. */
function helloOf(servername: string | undefined, maxVersion: "TLSv1.2" | "TLSv1.3"): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined)
      socket.once("data", (bytes) => {
        resolve(bytes)
        socket.destroy()
        server.close()
      })
    })
    server.on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      const client = connect({ port, ...(servername === undefined ? {} : { servername }), maxVersion })
      client.on("error", () => undefined)
    })
  })
}

test.each(["TLSv1.2", "TLSv1.3"] as const)(
  "the host is read once the message of %s is whole",
  async (version) => {
    const hello = await helloOf("B2B.shop.example", version)
    for (let length = 0; length < hello.length; length += 1)
      expect(namedHost(hello.subarray(0, length))).toBe("more")
    expect(namedHost(hello)).toEqual({ host: "B2B.shop.example" })
    expect(namedHost(Buffer.concat([hello, Buffer.from("more")]))).toEqual({ host: "B2B.shop.example" })
    expect(namedHost(await helloOf(undefined, version))).toEqual({ host: undefined })
  },
)

test("the message may be in several records", async () => {
  const hello = await helloOf("shop.example", "TLSv1.3")
  const body = hello.subarray(5)
  for (const size of [1, 3, 4, 5, 60]) {
    const records: Buffer[] = []
    for (let at = 0; at < body.length; at += size) {
      const part = body.subarray(at, at + size)
      records.push(Buffer.from([0x16, 3, 1, part.length >> 8, part.length & 0xff]), part)
    }
    expect(namedHost(Buffer.concat(records))).toEqual({ host: "shop.example" })
  }
})

test("other bytes name no host, and never throw", async () => {
  const hello = await helloOf("shop.example", "TLSv1.3")
  fc.assert(
    fc.property(fc.nat(hello.length - 1), fc.nat(255), (at, byte) => {
      const changed = Buffer.from(hello)
      changed[at] = byte
      const found = namedHost(changed)
      return found === "more" || found.host === undefined || typeof found.host === "string"
    }),
  )
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => namedHost(Buffer.from(bytes)) !== null))
  expect(namedHost(Buffer.from("GET / HTTP/1.1\r\n"))).toEqual({ host: undefined })
})
