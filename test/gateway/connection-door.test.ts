import { mkdtempSync, rmSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect as connectTls } from "node:tls"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { Gateway } from "../../runtime/gateway/gateway.ts"
import { compile } from "../compile.ts"
import { Authority } from "../support/certificates.ts"
import { freePort } from "../support/free-port.ts"
import { until } from "../support/until.ts"
import { newGateway } from "./harness.ts"

let folder: string
let authority: Authority
let ports: { plain: number; tls: number }
const gateways: Gateway[] = []
const sockets: Socket[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "connection-door-"))
  authority = new Authority(folder)
  authority.sign("own", ["own.example"])
  ports = { plain: await freePort(), tls: await freePort() }
})

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const gateway of gateways.splice(0)) await gateway.close(0)
})

afterAll(() => rmSync(folder, { recursive: true }))

async function start(proxies: string, more = "trust none"): Promise<Gateway> {
  const text = `
    gateway g {
      listen 127.0.0.1:${ports.plain} { ${proxies} }
      listen 127.0.0.1:${ports.tls} { ${proxies}; tls { certificate own } }
      ${more}
    }
    certificate own { cert file("own.pem"); key file("own.key") }
    api a { path "/a"; auth none; GET "/" { respond 200 { header "X-Ip" "\${request.ip}" } } }
  `
  const { plan, diagnostics } = compile(new MemoryFiles([["gateway.conf", text]]), "gateway.conf")
  if (plan === undefined) throw new Error(JSON.stringify(diagnostics, null, 1))
  const gateway = newGateway({
    folder,
  })
  gateways.push(gateway)
  await gateway.apply(plan)
  return gateway
}

const get = "GET /a HTTP/1.1\r\nHost: own.example\r\n\r\n"
const ipOf = (text: string) => /^x-ip: (.*)\r$/im.exec(text)?.[1]

/** What the gateway sends to bytes, until it has sent a response or closes; `pause`: the bytes are sent one by one. */
function send(bytes: string | Buffer, { requests = 1, singly = false } = {}): Promise<string> {
  return new Promise((resolve) => {
    let text = ""
    const socket = connect(ports.plain, "127.0.0.1").setNoDelay()
    sockets.push(socket)
    socket.on("error", () => undefined)
    socket.on("close", () => resolve(text))
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1")
      if (text.split("\r\n\r\n").length > requests) resolve(text)
    })
    socket.on("connect", async () => {
      if (!singly) {
        socket.write(bytes)
        return
      }
      for (const byte of Buffer.from(bytes))
        await new Promise<void>((sent) => socket.write(Buffer.of(byte), () => setImmediate(sent)))
    })
  })
}

/** The same over TLS, behind the header of the proxy. */
function sendSecured(header: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(ports.tls, "127.0.0.1", () => {
      if (header !== "") socket.write(header)
      const secured = connectTls({ socket, servername: "own.example", ca: authority.pem }, () =>
        secured.write(get),
      )
      secured.on("data", (chunk: Buffer) => resolve(ipOf(chunk.toString("latin1"))))
      secured.on("error", () => resolve(undefined))
      secured.on("close", () => resolve(undefined))
    })
    sockets.push(socket)
  })
}

const version1 = "PROXY TCP4 192.0.2.7 203.0.113.1 8080 443\r\n"

describe("`proxy-protocol`", () => {
  test("takes the address of the client from the header, for all requests of the connection", async () => {
    await start("proxy-protocol 127.0.0.0/8")
    expect(ipOf(await send(version1 + get))).toBe("192.0.2.7")
    expect(ipOf(await send(version1 + get, { singly: true }))).toBe("192.0.2.7")
    const two = await send(version1 + get + get, { requests: 2 })
    expect([...two.matchAll(/^x-ip: (.*)\r$/gim)].map(([, ip]) => ip)).toEqual(["192.0.2.7", "192.0.2.7"])
    const version2 = Buffer.from("0d0a0d0a000d0a515549540a2111000cc0000208cb0071011f9001bb", "hex")
    expect(ipOf(await send(Buffer.concat([version2, Buffer.from(get)])))).toBe("192.0.2.8")
    expect(ipOf(await send(`PROXY UNKNOWN\r\n${get}`))).toBe("127.0.0.1")
    expect(await sendSecured(version1)).toBe("192.0.2.7")
  })

  test("of the client decides about `trust`", async () => {
    await start("proxy-protocol 127.0.0.0/8", "trust 192.0.2.7/32")
    const forwarded = get.replace("\r\n\r\n", "\r\nX-Forwarded-For: 198.51.100.1\r\n\r\n")
    expect(ipOf(await send(version1 + forwarded))).toBe("198.51.100.1")
    expect(ipOf(await send(version1.replace("192.0.2.7", "192.0.2.9") + forwarded))).toBe("192.0.2.9")
  })

  test("closes connections of these networks without the header", async () => {
    const gateway = await start("proxy-protocol 127.0.0.0/8")
    expect(await send(get)).toBe("")
    expect(await send("PROXY TCP4 x y 1 2\r\n")).toBe("")
    expect(await sendSecured("")).toBeUndefined()
    expect(gateway.state().connectionsRefused.get("proxy-header")).toBe(3)
    expect(ipOf(await send(version1 + get))).toBe("192.0.2.7")
  })

  test("refuses the header of other networks", async () => {
    await start("proxy-protocol 10.0.0.0/8")
    expect(await send(version1 + get)).toMatch(/^HTTP\/1\.1 400 /)
    expect(await sendSecured(version1)).toBeUndefined()
    expect(ipOf(await send(get))).toBe("127.0.0.1")
    expect(await sendSecured("")).toBe("127.0.0.1")
  })
})

test("`connections-per-address` counts clients, also behind a PROXY header, and over all listeners", async () => {
  const gateway = await start(
    "proxy-protocol 127.0.0.0/8",
    "trust none; limits { connections-per-address 2 }",
  )
  expect(ipOf(await send(version1 + get))).toBe("192.0.2.7")
  expect(await sendSecured(version1)).toBe("192.0.2.7")
  expect(await send(version1 + get)).toBe("")
  expect(gateway.state().connectionsRefused.get("too-many")).toBe(1)
  expect(ipOf(await send(version1.replace("192.0.2.7", "192.0.2.8") + get))).toBe("192.0.2.8")
  for (const socket of sockets.splice(0)) socket.destroy()
  await until(async () => ipOf(await send(version1 + get)) === "192.0.2.7")
})

test("`trust` is not limited, and `new-connections-per-address` closes further connections", async () => {
  await start("", "trust 127.0.0.1/32; limits { connections-per-address 1; new-connections-per-address 1 }")
  for (let count = 0; count < 5; count += 1) expect(ipOf(await send(get))).toBe("127.0.0.1")
  await gateways.pop()?.close(0)
  const gateway = await start(
    "",
    "trust none; limits { connections-per-address none; new-connections-per-address 1 }",
  )
  expect(ipOf(await send(get))).toBe("127.0.0.1")
  await until(async () => (await send(get)) === "")
  expect(gateway.state().connectionsRefused.get("too-many")).toBeGreaterThan(0)
})
