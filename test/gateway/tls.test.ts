import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { get as getHttp, type IncomingHttpHeaders } from "node:http"
import { connect as connectHttp2 } from "node:http2"
import { Agent, request } from "node:https"
import { type AddressInfo, connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect as connectTls, type TLSSocket } from "node:tls"
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { Gateway } from "../../runtime/gateway/gateway.ts"
import { LoadError } from "../../runtime/gateway/generation/load-error.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { certificateWarnings } from "../../runtime/process/certificate-state.ts"
import { compile } from "../compile.ts"
import { Authority } from "../support/certificates.ts"
import { freePort } from "../support/free-port.ts"
import { askHttp2 } from "../support/http2-client.ts"
import { until } from "../support/until.ts"
import { newGateway } from "./harness.ts"

let folder: string
let authority: Authority
let ports: { https: number; http: number }
const gateways: Gateway[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tls-"))
  authority = new Authority(folder)
  authority.sign("shop", ["shop.example", "www.shop.example"])
  authority.sign("wild", ["*.shop.example", "*.example.org"])
  authority.sign("other", ["other.example"])
  ports = { https: await freePort(), http: await freePort() }
})

afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.close(0)
})

afterAll(() => rmSync(folder, { recursive: true }))

/** A project with a TLS listener; `tls` are the statements in its block. */
function planOf(tls: string, more = "", operations = ""): Plan {
  const text = `
    gateway g {
      listen 127.0.0.1:${ports.https} { tls { ${tls} } }
      ${more}
      trust none
    }
    certificate shop { cert file("shop.pem"); key file("shop.key") }
    certificate wild { cert file("wild.pem"); key file("wild.key") }
    certificate other { cert file("other.pem"); key file("other.key") }
    certificate mixed { cert file("shop.pem"); key file("wild.key") }
    certificate ended { cert file("ended.pem"); key file("ended.key") }
    secret shop_pem = file("shop.pem")
    secret shop_key = file("shop.key")
    secret wild_key = file("wild.key")
    certificate named { cert shop_pem; key shop_key }
    certificate named_mixed { cert shop_pem; key wild_key }
    api a {
      path "/a"
      auth none
      GET "/" { inbound { respond 200 { header "X-Scheme" "\${request.scheme}" } } }
      ${operations}
      GET "/hsts" { inbound { respond 200 { header "Strict-Transport-Security" "max-age=1" } } }
    }
  `
  const { plan, diagnostics } = compile(new MemoryFiles([["gateway.conf", text]]), "gateway.conf")
  if (plan === undefined) throw new Error(JSON.stringify(diagnostics, null, 1))
  return plan
}

interface Started {
  readonly gateway: Gateway
  readonly reloads: (LoadError | undefined)[]
}

async function start(plan: Plan): Promise<Started> {
  const reloads: (LoadError | undefined)[] = []
  const gateway = newGateway({
    folder,
    onReload: (error) => reloads.push(error),
    filesEveryMs: 50,
  })
  gateways.push(gateway)
  await gateway.apply(plan)
  return { gateway, reloads }
}

interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly scheme: string | string[] | undefined
  /** The common name of the certificate. */
  readonly shown: string
}

/** Requests by HTTPS with a server name; `agent` keeps connections. */
function get(servername: string, path = "/a", agent = new Agent()): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port: ports.https, path, servername, ca: authority.pem, agent }
    const sent = request({
      ...options,
      headers: { host: servername || "x.example" },
      checkServerIdentity: () => undefined,
    })
    sent.on("error", reject)
    sent.on("response", (response) => {
      const shown = String((response.socket as TLSSocket).getPeerCertificate().subject.CN)
      response.resume()
      response.on("end", () =>
        resolve({
          status: response.statusCode,
          headers: response.headers,
          scheme: response.headers["x-scheme"],
          shown,
        }),
      )
    })
    sent.end()
  })
}

/** What the server sends to bytes on a plain connection, until it closes. */
function sendPlain(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let text = ""
    const socket = connect(ports.https, "127.0.0.1", () => socket.write(bytes))
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1")
    })
    socket.on("error", () => undefined)
    socket.on("close", () => resolve(text))
  })
}

describe("the certificate of a TLS listener", () => {
  test.each([
    ["an exact name", "shop.example", "shop"],
    ["an exact name before a wildcard", "www.shop.example", "shop"],
    ["a wildcard for one label", "api.shop.example", "wild"],
    ["a name in capital letters", "API.Shop.Example", "wild"],
    ["a wildcard is not for two labels", "a.b.shop.example", "other"],
    ["nor for none", "example.org", "other"],
    ["an unknown name", "unknown.example", "other"],
    ["no name", "", "other"],
  ])("%s", async (_, servername, shown) => {
    await start(planOf("certificate other wild shop"))
    expect(await get(servername)).toMatchObject({ status: 200, scheme: "https", shown })
  })

  test.each(["unknown.example", ""])(
    "with `unknown-host refuse` the host %j gets no connection",
    async (host) => {
      await start(planOf("certificate shop; unknown-host refuse"))
      await expect(get(host)).rejects.toThrow()
      expect(await get("shop.example")).toMatchObject({ status: 200 })
    },
  )

  test("is read again when its files change, without closing connections; a wrong pair changes nothing", async () => {
    authority.sign("renewed", ["renewed.example"])
    for (const kind of ["pem", "key"])
      copyFileSync(join(folder, `other.${kind}`), join(folder, `spare.${kind}`))
    const { reloads } = await start(planOf("certificate other"))
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const before = await get("other.example", "/a", agent)
    copyFileSync(join(folder, "renewed.pem"), join(folder, "other.pem"))
    await until(() => reloads.length > 0)
    expect(String(reloads[0])).toContain("does not belong to the certificate")
    expect(await get("other.example")).toMatchObject({ shown: "other" })
    copyFileSync(join(folder, "renewed.key"), join(folder, "other.key"))
    await until(() => reloads.at(-1) === undefined)
    expect(await get("other.example")).toMatchObject({ shown: "renewed" })
    expect(await get("other.example", "/a", agent)).toMatchObject({ status: 200, shown: before.shown })
    agent.destroy()
    for (const kind of ["pem", "key"])
      copyFileSync(join(folder, `spare.${kind}`), join(folder, `other.${kind}`))
  })

  test("comes from secrets; a key that does not fit is refused, and both secrets are named", async () => {
    await start(planOf("certificate named"))
    expect(await get("shop.example")).toMatchObject({ status: 200, shown: "shop" })
    const refused = await start(planOf("certificate named_mixed")).catch((error: unknown) => error)
    expect((refused as LoadError).message).toMatch(
      /secret `wild_key` does not belong to .* secret `shop_pem`/,
    )
  })

  test("is served after its end, because clients decide", async () => {
    authority.sign("ended", ["ended.example"], { days: -1 })
    const { gateway } = await start(planOf("certificate ended"))
    await expect(get("ended.example")).rejects.toThrow("certificate has expired")
    const [shown] = gateway.state().certificates
    expect(certificateWarnings({ gateway, listeners: undefined })).toEqual([
      expect.stringMatching(/^certificate ended \(ended\.example\) expired on \d{4}-\d\d-\d\d: replace it/),
    ])
    expect(shown?.notAfter.getTime()).toBeLessThan(Date.now())
  })

  test("a key that does not fit the certificate is refused, and both files are named", async () => {
    const refused = await start(planOf("certificate mixed")).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(LoadError)
    expect((refused as LoadError).message).toMatch(/`wild\.key` does not belong to .* `shop\.pem`/)
  })
})

describe("versions of TLS", () => {
  const versionWith = (maxVersion: "TLSv1.1" | "TLSv1.2" | "TLSv1.3"): Promise<string | null> =>
    new Promise((resolve) => {
      const options = { port: ports.https, servername: "shop.example", ca: authority.pem, maxVersion }
      const socket = connectTls({ ...options, minVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" }, () => {
        resolve(socket.getProtocol())
        socket.destroy()
      })
      socket.on("error", () => resolve(null))
    })

  test.each([
    ["intermediate", [null, "TLSv1.2", "TLSv1.3"]],
    ["modern", [null, null, "TLSv1.3"]],
  ])("profile %s", async (profile, expected) => {
    await start(planOf(`certificate shop; profile ${profile}`))
    expect(
      await Promise.all([versionWith("TLSv1.1"), versionWith("TLSv1.2"), versionWith("TLSv1.3")]),
    ).toEqual(expected)
  })
})

describe("on a TLS listener", () => {
  /** Whether a connection continues the session, and the session of the new one. */
  const resume = (session?: Buffer) =>
    new Promise<{ isReused: boolean; session: Buffer }>((resolve, reject) => {
      const options = { port: ports.https, servername: "shop.example", ca: authority.pem }
      const socket = connectTls({ ...options, maxVersion: "TLSv1.2", session }, () => {
        resolve({ isReused: socket.isSessionReused(), session: socket.getSession() as Buffer })
        socket.destroy()
      })
      socket.on("error", reject)
    })

  test("clients resume their sessions until the keys of the tickets change, after 12 hours", async () => {
    await start(planOf("certificate shop"))
    const first = await resume()
    expect(first.isReused).toBe(false)
    expect((await resume(first.session)).isReused).toBe(true)
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 12.1 * 3_600_000 })
    try {
      const second = await resume(first.session)
      expect(second.isReused).toBe(false)
      expect((await resume(second.session)).isReused).toBe(true)
    } finally {
      vi.useRealTimers()
    }
  })

  test("a request by plain HTTP gets 400 with a sentence", async () => {
    await start(planOf("certificate shop"))
    const answer = await sendPlain("GET /a HTTP/1.1\r\nHost: shop.example\r\n\r\n")
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain("This port accepts only HTTPS")
  })

  test("other bytes, and half a handshake, get no response", async () => {
    await start(planOf("certificate shop"))
    expect(await sendPlain("\0\x01garbage\r\n\r\n")).toBe("")
    // A record with a handshake that OpenSSL refuses, with an alert.
    expect(await sendPlain("\x16\x03\x01\x00\x05\xff\xff\xff\xff\xff")).not.toContain("HTTP")
    expect(await get("shop.example")).toMatchObject({ status: 200 })
  })

  test("closing ends a connection whose handshake is not complete", async () => {
    const { gateway } = await start(planOf("certificate shop"))
    const socket = connect(ports.https, "127.0.0.1")
    await new Promise((resolve) => socket.once("connect", resolve))
    socket.write("\x16\x03\x01")
    socket.on("error", () => undefined)
    const closed = new Promise((resolve) => socket.once("close", resolve))
    await gateway.close(200)
    gateways.length = 0
    await closed
  })

  test("hsts is in every response, in place of that of the backend", async () => {
    await start(planOf("certificate shop; hsts 365d subdomains preload"))
    const expected = "max-age=31536000; includeSubDomains; preload"
    for (const path of ["/a", "/a/hsts", "/nowhere"])
      expect((await get("shop.example", path)).headers["strict-transport-security"]).toBe(expected)
  })
})

/** What the gateway sends to bytes on an encrypted connection, until `isWhole` holds. */
function sendSecured(bytes: string, isWhole: (text: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ""
    const options = { port: ports.https, servername: "shop.example", ca: authority.pem }
    const socket = connectTls(options, () => socket.write(bytes))
    socket.on("error", reject)
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1")
      if (!isWhole(text)) return
      socket.destroy()
      resolve(text)
    })
  })
}

describe("an upgrade on a TLS listener", () => {
  const upgradeTo = (protocol: string, path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: shop.example\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`

  test("to another protocol is ignored, and the request is served", async () => {
    await start(planOf("certificate shop"))
    const answer = await sendSecured(upgradeTo("h2c", "/a"), (text) => text.includes("\r\n\r\n"))
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(answer).toContain("x-scheme: https")
  })

  test("to a WebSocket opens a tunnel to the backend", async () => {
    const backend = createServer((socket) => {
      socket.once("data", () => {
        socket.write(
          "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
        )
        socket.write("from the backend")
      })
      socket.on("error", () => undefined)
    })
    await new Promise<void>((resolve) => backend.listen(0, "127.0.0.1", resolve))
    const { port } = backend.address() as AddressInfo
    await start(planOf("certificate shop", "", `GET "/ws" { backend "http://127.0.0.1:${port}" }`))
    const answer = await sendSecured(upgradeTo("websocket", "/a/ws"), (text) =>
      text.endsWith("from the backend"),
    )
    expect(answer).toMatch(/^HTTP\/1\.1 101 /)
    await new Promise((resolve) => backend.close(resolve))
  })
})

describe("a listener with `redirect https`", () => {
  const plain = (
    path: string,
    headers: Record<string, string>,
  ): Promise<{ status?: number; location?: string }> =>
    new Promise((resolve, reject) => {
      const sent = getHttp({ host: "127.0.0.1", port: ports.http, path, headers }, (response) => {
        response.resume()
        const { statusCode: status, headers } = response
        resolve({
          ...(status === undefined ? {} : { status }),
          ...(headers.location === undefined ? {} : { location: headers.location }),
        })
      })
      sent.on("error", reject)
    })

  test("names the same URL at the port of the TLS listener, or at its own", async () => {
    const { gateway } = await start(
      planOf("certificate shop", `listen 127.0.0.1:${ports.http} { redirect https }`),
    )
    const location = `https://shop.example:${ports.https}/a/b?x=1&y`
    expect(await plain("/a/b?x=1&y", { host: "shop.example:80" })).toEqual({ status: 308, location })
    await gateway.apply(planOf("certificate shop", `listen 127.0.0.1:${ports.http} { redirect https 443 }`))
    expect(await plain("/a", { host: "[::1]:80" })).toEqual({ status: 308, location: "https://[::1]/a" })
  })

  test("serves requests that a trusted proxy received by HTTPS", async () => {
    const text = planOf("certificate shop", `listen 127.0.0.1:${ports.http} { redirect https }`)
    const gateway = text.plan.gateway
    if (gateway !== null) gateway.trust = ["127.0.0.1/32"]
    await start(text)
    expect(await plain("/a", { host: "shop.example", "x-forwarded-proto": "https" })).toEqual({ status: 200 })
    expect(await plain("/a", { host: "shop.example", "x-forwarded-proto": "http" })).toMatchObject({
      status: 308,
    })
  })
})

test("a listener changes between plain HTTP and TLS while its connections continue", async () => {
  const { gateway } = await start(planOf("certificate shop"))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  expect(await get("shop.example", "/a", agent)).toMatchObject({ status: 200 })
  const plan = planOf("certificate shop")
  delete plan.plan.gateway?.listen[0]?.tls
  await gateway.apply({ ...plan, digest: "sha256:another" })
  expect(await sendPlain("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).toMatch(
    /^HTTP\/1\.1 200 /,
  )
  expect(await get("shop.example", "/a", agent)).toMatchObject({ status: 200, scheme: "https" })
  await expect(get("shop.example")).rejects.toThrow()
  agent.destroy()
})

describe("HTTP/2 on a TLS listener", () => {
  const protocolWith = (...ALPNProtocols: string[]): Promise<string | false | null> =>
    new Promise((resolve) => {
      const options = { port: ports.https, servername: "shop.example", ca: authority.pem, ALPNProtocols }
      const socket = connectTls(options, () => {
        resolve(socket.alpnProtocol)
        socket.destroy()
      })
      socket.on("error", () => resolve(null))
    })

  test("is negotiated, before HTTP/1.1, unless it is switched off", async () => {
    const { gateway } = await start(planOf("certificate shop"))
    expect(await protocolWith("http/1.1", "h2")).toBe("h2")
    expect(await protocolWith("http/1.1")).toBe("http/1.1")
    expect(await protocolWith()).toBe(false)
    expect(await protocolWith("h3")).toBe(null)
    const plan = planOf("certificate shop")
    const [listener] = plan.plan.gateway?.listen ?? []
    if (listener !== undefined) listener.http2 = false
    await gateway.apply({ ...plan, digest: "sha256:another" })
    expect(await protocolWith("http/1.1", "h2")).toBe("http/1.1")
  })

  test("serves requests with the scheme and the fields of the listener", async () => {
    await start(planOf("certificate shop; hsts 30d"))
    const session = connectHttp2(`https://127.0.0.1:${ports.https}`, {
      ca: authority.pem,
      servername: "shop.example",
    })
    const answer = await askHttp2(session, { ":path": "/a", ":authority": "shop.example" })
    expect(answer).toMatchObject({
      status: 200,
      headers: { "x-scheme": "https", "strict-transport-security": "max-age=2592000" },
    })
    session.destroy()
  })
})
