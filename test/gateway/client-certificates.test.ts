import { createHash, X509Certificate } from "node:crypto"
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer as createHttpServer } from "node:http"
import { connect as connectHttp2 } from "node:http2"
import { Agent, request } from "node:https"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect as connectTls } from "node:tls"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { Gateway } from "../../runtime/gateway/gateway.ts"
import { LoadError } from "../../runtime/gateway/generation/load-error.ts"
import type { Finished } from "../../runtime/gateway/observer.ts"
import { compile } from "../compile.ts"
import { Authority } from "../support/certificates.ts"
import { freePort } from "../support/free-port.ts"
import { askHttp2 } from "../support/http2-client.ts"
import { until } from "../support/until.ts"
import { newGateway } from "./harness.ts"

let folder: string
let authority: Authority
let port: number
const gateways: Gateway[] = []
const agents: Agent[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "client-certificates-"))
  authority = new Authority(folder)
  authority.sign("shop", ["shop.example", "*.shop.example"])
  authority.signAuthority("partners")
  authority.signClient(
    "orders",
    "/O=Acme, Inc/CN=orders",
    ["subjectAltName=DNS:Orders.example,URI:spiffe://acme/orders,email:ops@acme.example,IP:10.0.0.7"],
    "partners",
  )
  authority.signClient("billing", "/O=Acme, Inc/CN=billing", [], "partners")
  authority.sign("server", ["server.example"])
  authority.revocationList("root", [])
  authority.revocationList("partners", [], { signer: "partners" })
  authority.revocationList("without-billing", ["billing"], { signer: "partners" })
  authority.revocationList("old", [], { signer: "partners", expired: true })
  const stranger = mkdtempSync(join(folder, "stranger-"))
  new Authority(stranger).signClient("mallory", "/O=Acme, Inc/CN=orders")
  for (const kind of ["pem", "key"])
    copyFileSync(join(stranger, `mallory.${kind}`), join(folder, `mallory.${kind}`))
  port = await freePort()
})

afterEach(async () => {
  for (const agent of agents.splice(0)) agent.destroy()
  for (const gateway of gateways.splice(0)) await gateway.close(0)
})

afterAll(() => rmSync(folder, { recursive: true }))

const revocation = 'revoked file("root.crl"); revoked file("now.crl")'

/** Asks for certificates, and serves clients without one. */
const asking = 'client-certificate request { ca file("ca.pem") }'

/** A project whose listener has these statements in `tls`; its backend responds with what it received. */
function textOf(demands: string, auth = "auth certificate", backend = "http://127.0.0.1:1"): string {
  const shows = auth.startsWith("auth certificate")
    ? `inbound { respond 200 { header "X-Sub" "\${has(jwt.sub) ? string(jwt.sub) : ''}"; header "X-Dns" "\${jwt.dns.join(' ')}" } }`
    : "inbound { respond 200 }"
  return `
    gateway g { listen 127.0.0.1:${port} { tls { certificate shop; ${demands} } }; trust none }
    certificate shop { cert file("shop.pem"); key file("shop.key") }
    backend b { url "${backend}" }
    api a {
      path "/a"
      GET "/" { ${auth}; ${shows} }
      GET "/open" { auth none; inbound { respond 200 } }
      GET "/sent" { auth certificate { forward chain }; backend b }
      GET "/unsent" { auth none; backend b }
    }
  `
}

async function start(
  text: string,
  files: readonly [string, string][] = [],
): Promise<{ gateway: Gateway; reloads: (LoadError | undefined)[]; finished: Finished[] }> {
  const { plan, diagnostics } = compile(new MemoryFiles([["gateway.conf", text], ...files]), "gateway.conf")
  if (plan === undefined) throw new Error(JSON.stringify(diagnostics, null, 1))
  const reloads: (LoadError | undefined)[] = []
  const finished: Finished[] = []
  const gateway = newGateway({
    observer: { finished: (each) => finished.push(each) },
    folder,
    onReload: (error) => reloads.push(error),
    filesEveryMs: 50,
    certificatesEveryMs: 50,
  })
  gateways.push(gateway)
  await gateway.apply(plan)
  return { gateway, reloads, finished }
}

interface Asked {
  readonly client?: string
  readonly servername?: string
  readonly host?: string
  readonly path?: string
  /** The port to connect to (default: that of the gateway). */
  readonly by?: number
  readonly agent?: Agent
  readonly headers?: Record<string, string>
}

interface Answer {
  readonly status: number | undefined
  readonly headers: Record<string, unknown>
  readonly body: string
}

function newAgent(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  agents.push(agent)
  return agent
}

/** The certificate of a client with that of its authority, and its key. */
function shown(client: string): { cert: string; key: string } {
  const pem = (name: string) => readFileSync(join(folder, name), "utf8")
  const above = ["orders", "billing"].includes(client) ? pem("partners.pem") : ""
  return { cert: pem(`${client}.pem`) + above, key: pem(`${client}.key`) }
}

function get({
  client,
  servername = "shop.example",
  host,
  path = "/a",
  agent,
  headers,
  by = port,
}: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({
      ...{ host: "127.0.0.1", port: by, path, servername, ca: authority.pem, agent: agent ?? newAgent() },
      ...(client === undefined ? {} : shown(client)),
      headers: { host: host ?? servername, ...headers },
      checkServerIdentity: () => undefined,
    })
    sent.on("error", reject)
    sent.on("response", (response) => {
      let body = ""
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => {
        body += chunk
      })
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body }))
    })
    sent.end()
  })
}

function current(list: string): void {
  copyFileSync(join(folder, `${list}.crl`), join(folder, "now.crl"))
}

describe("`client-certificate require`", () => {
  test.each([
    ["no certificate", undefined, "the client presented none"],
    ["one of another authority", "mallory", "no authority in the files of `ca` signed it"],
    ["a server's own without client authentication", "partners", "it is not for client authentication"],
  ])("refuses %s before a request is read, and says why in the log", async (_, client, cause) => {
    const { gateway, finished } = await start(textOf('client-certificate require { ca file("ca.pem") }'))
    const answer = await get({ ...(client === undefined ? {} : { client }), path: "/a/open" })
    expect(answer).toMatchObject({ status: 401, headers: { "www-authenticate": "Client-Certificate" } })
    expect(JSON.parse(answer.body)).toMatchObject({ type: "urn:sallyport:problem:certificate-required" })
    expect(finished.map(({ problem, cause: logged }) => [problem, logged])).toEqual([
      ["certificate-required", expect.stringContaining(cause)],
    ])
    expect(gateway.state().handshakesFailed.get("client-certificate")).toBe(1)
    expect(await get({ client: "orders", path: "/a/open" })).toMatchObject({ status: 200 })
  })

  test("answers each HTTP/2 request without one by 401", async () => {
    const { finished } = await start(textOf('client-certificate require { ca file("ca.pem") }'))
    const statuses = async (client?: string) => {
      const session = connectHttp2(`https://127.0.0.1:${port}`, {
        ...{ servername: "shop.example", ca: authority.pem },
        ...(client === undefined ? {} : shown(client)),
      })
      const asked = () => askHttp2(session, { ":path": "/a/open", ":authority": "shop.example" })
      const answers = [...(await Promise.all([asked(), asked()])), await asked()]
      session.destroy()
      return answers.map(({ status }) => status)
    }
    expect(await statuses()).toEqual([401, 401, 401])
    expect(finished.map(({ problem, cause }) => [problem, cause])).toEqual(
      Array.from({ length: 3 }, () => [
        "certificate-required",
        "the client certificate is not accepted: the client presented none",
      ]),
    )
    expect(await statuses("mallory")).toEqual([401, 401, 401])
    expect(await statuses("orders")).toEqual([200, 200, 200])
  })

  test("is for the hosts it names; other clients are not asked, and cannot reach these hosts", async () => {
    await start(
      textOf('client-certificate require "b2b.shop.example" "*.deep.shop.example" { ca file("ca.pem") }'),
    )
    expect(await get({ path: "/a/open" })).toMatchObject({ status: 200 })
    for (const servername of ["b2b.shop.example", "B2B.Shop.Example", "a.b.deep.shop.example"]) {
      expect(await get({ path: "/a/open", servername })).toMatchObject({ status: 401 })
      expect(await get({ path: "/a/open", servername, client: "orders" })).toMatchObject({ status: 200 })
    }
    expect(await get({ path: "/a/open", host: "b2b.shop.example" })).toMatchObject({ status: 421 })
    expect(await get({ path: "/a/open", host: "B2B.shop.example.:443" })).toMatchObject({ status: 421 })
    expect(
      await get({ path: "/a/open", servername: "b2b.shop.example", host: "shop.example", client: "orders" }),
    ).toMatchObject({ status: 421 })
    expect(await get({ client: "orders" })).toMatchObject({ status: 401 })
  })

  test("reads a first message that comes in pieces", async () => {
    await start(textOf('client-certificate require "b2b.shop.example" { ca file("ca.pem") }'))
    const relay = createServer((near) => {
      const far = connect(port, "127.0.0.1").setNoDelay()
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        from.on("error", () => to.destroy())
        from.on("close", () => to.destroy())
      }
      far.pipe(near)
      near.on("data", async (bytes: Buffer) => {
        near.pause()
        for (let at = 0; at < bytes.length; at += 50)
          await new Promise<void>((resolve) =>
            far.write(bytes.subarray(at, at + 50), () => setImmediate(resolve)),
          )
        near.resume()
      })
    })
    await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve))
    const { port: by } = relay.address() as AddressInfo
    const asked = { by, servername: "b2b.shop.example", path: "/a/open" }
    expect(await get({ ...asked, client: "orders" })).toMatchObject({ status: 200 })
    expect(await get(asked)).toMatchObject({ status: 401 })
    for (const agent of agents.splice(0)) agent.destroy()
    await new Promise((resolve) => relay.close(resolve))
  })
})

describe("`auth certificate`", () => {
  test("requires a verified certificate; its names are claims", async () => {
    const { finished } = await start(textOf(asking))
    expect(await get({})).toMatchObject({
      status: 401,
      headers: { "www-authenticate": "Client-Certificate" },
    })
    expect(await get({ client: "mallory" })).toMatchObject({ status: 401 })
    await until(() => finished.length === 2)
    expect(finished.map(({ reason, cause }) => [reason, cause])).toEqual([
      [
        "ClientCertificateNotFound",
        expect.stringContaining("the client presented no certificate on its connection"),
      ],
      ["ClientCertificateInvalid", expect.stringContaining("no authority in the files of `ca` signed it")],
    ])
    expect(await get({ client: "orders" })).toMatchObject({
      status: 200,
      headers: { "x-sub": "CN=orders,O=Acme\\, Inc", "x-dns": "orders.example" },
    })
    await until(() => finished.length === 3)
    expect(finished.at(-1)?.user).toBe("CN=orders,O=Acme\\, Inc")
  })

  const digest = (client: string) =>
    createHash("sha256")
      .update(new X509Certificate(readFileSync(join(folder, `${client}.pem`))).raw)
      .digest("hex")

  test.each([
    ["subject", () => String.raw`subject "CN=orders, O=Acme\\2C Inc"`],
    ["san dns", () => 'san dns "ORDERS.example" "x"'],
    ["san uri", () => 'san uri "spiffe://acme/orders"'],
    ["san email", () => 'san email "ops@acme.example"'],
    ["san ip", () => 'san ip "10.0.0.7"'],
    ["thumbprint", () => `thumbprint "${digest("orders").toUpperCase()}"`],
    ["all of them", () => `issuer "cn=partners"; san dns "orders.example"; thumbprint "${digest("orders")}"`],
  ])("with %s lets only its client through", async (_, conditions) => {
    await start(textOf(asking, `auth certificate { ${conditions()} }`))
    expect(await get({ client: "orders" })).toMatchObject({ status: 200 })
    expect(await get({ client: "billing" })).toMatchObject({ status: 403 })
    expect(await get({})).toMatchObject({ status: 401 })
  })

  test("with `forward` sends certificate and chain (RFC 9440); those of clients are removed", async () => {
    const backend = createHttpServer((incoming, reply) => {
      reply.end(JSON.stringify([incoming.headers["client-cert"], incoming.headers["client-cert-chain"]]))
    })
    await new Promise<void>((resolve) => backend.listen(0, "127.0.0.1", resolve))
    const { port: at } = backend.address() as { port: number }
    await start(textOf(asking, undefined, `http://127.0.0.1:${at}`))
    const der = (name: string) =>
      `:${new X509Certificate(readFileSync(join(folder, `${name}.pem`))).raw.toString("base64")}:`
    const forged = { "client-cert": ":AAAA:", "client-cert-chain": ":AAAA:" }
    const sent = await get({ client: "orders", path: "/a/sent", headers: forged })
    expect(JSON.parse(sent.body)).toEqual([der("orders"), der("partners")])
    for (const client of [undefined, "orders", "mallory"]) {
      const unsent = await get({ ...(client ? { client } : {}), path: "/a/unsent", headers: forged })
      expect(JSON.parse(unsent.body)).toEqual([null, null])
    }
    expect(await get({ client: "mallory", path: "/a/sent", headers: forged })).toMatchObject({ status: 401 })
    await new Promise((resolve) => backend.close(resolve))
  })
})

describe("in policy documents", () => {
  const sha1 = (client: string) =>
    createHash("sha1")
      .update(new X509Certificate(readFileSync(join(folder, `${client}.pem`))).raw)
      .digest("hex")
  const documentOf = (inbound: string): readonly [string, string][] => [
    ["p.xml", `<policies><inbound>${inbound}</inbound><backend /><outbound /><on-error /></policies>`],
  ]
  const conf = (auth: string, demand = asking) => textOf(demand, auth)

  test("`validate-client-certificate` accepts the identities it lists", async () => {
    const identity = (attributes: string) =>
      documentOf(
        `<validate-client-certificate validate-revocation="false"><identities><identity ${attributes} /><identity thumbprint="${"0".repeat(40)}" /></identities></validate-client-certificate>`,
      )
    const { serialNumber } = new X509Certificate(readFileSync(join(folder, "orders.pem")))
    for (const attributes of [
      `thumbprint="${sha1("orders")}"`,
      `serial-number="${serialNumber.toLowerCase()}" issuer-subject="CN=partners"`,
      'common-name="orders" dns-name="ORDERS.example"',
      String.raw`subject="CN=orders, O=Acme\, Inc"`,
    ]) {
      const { gateway } = await start(conf('auth policy; policy xml "p.xml"'), identity(attributes))
      expect(await get({ client: "orders" }), attributes).toMatchObject({ status: 200 })
      const other = await get({ client: "billing" })
      expect(other.status).toBe(403)
      expect(JSON.parse(other.body)).toMatchObject({ detail: "Invalid client certificate" })
      expect(await get({ client: "mallory" })).toMatchObject({ status: 403 })
      expect(await get({})).toMatchObject({ status: 403 })
      gateways.splice(gateways.indexOf(gateway), 1)
      await gateway.close(0)
    }
  })

  test("`validate-client-certificate` requires revocation lists by default", async () => {
    const text = 'auth policy; policy xml "p.xml"'
    const { gateway, finished } = await start(conf(text), documentOf("<validate-client-certificate />"))
    expect(await get({ client: "orders" })).toMatchObject({ status: 403 })
    await until(() => finished.length === 1)
    expect(finished[0]?.cause).toContain("the listener has no revocation lists")
    gateways.splice(gateways.indexOf(gateway), 1)
    await gateway.close(0)
    current("partners")
    await start(
      conf(text, `client-certificate request { ca file("ca.pem"); ${revocation} }`),
      documentOf("<validate-client-certificate />"),
    )
    expect(await get({ client: "orders" })).toMatchObject({ status: 200 })
  })

  test("`context.Request.Certificate` is the verified certificate, with its SHA-1 thumbprint", async () => {
    const shownAs = `@(context.Request.Certificate == null ? "none" : context.Request.Certificate.Thumbprint + " " + context.Request.Certificate.VerifyNoRevocation() + " " + context.Request.Certificate.Verify())`
    await start(
      conf('auth none; policy xml "p.xml"'),
      documentOf(
        `<return-response><set-status code="200" /><set-body>${shownAs.replaceAll('"', "&quot;")}</set-body></return-response>`,
      ),
    )
    const bodyOf = async (client?: string) => (await get(client === undefined ? {} : { client })).body
    expect(await bodyOf("orders")).toBe(`${sha1("orders").toUpperCase()} True False`)
    expect(await bodyOf("mallory")).toBe("none")
    expect(await bodyOf()).toBe("none")
  })
})

describe("revocation lists", () => {
  const demand = (mode: string) => `client-certificate ${mode} { ca file("ca.pem"); ${revocation} }`

  test.each(["TLSv1.2", "TLSv1.3"] as const)(
    "are read again when they change, for new and open connections, and no session of %s is resumed",
    async (version) => {
      current("partners")
      const { reloads } = await start(textOf(demand("request")))
      const agent = newAgent()
      expect(await get({ client: "billing", agent })).toMatchObject({ status: 200 })
      const session = await sessionOf(version)
      current("without-billing")
      await until(() => reloads.length > 0)
      expect(await get({ client: "billing", agent })).toMatchObject({ status: 401 })
      expect(await get({ client: "billing" })).toMatchObject({ status: 401 })
      expect(await get({ client: "orders" })).toMatchObject({ status: 200 })
      expect(await resumed(version, session)).toEqual({ reused: false, status: "401" })
      current("partners")
      await until(() => reloads.length > 1)
      expect(await get({ client: "billing", agent })).toMatchObject({ status: 200 })
    },
  )

  test("that have expired, or are missing, refuse every certificate and say so", async () => {
    current("old")
    const { gateway, finished, reloads } = await start(textOf(demand("require")))
    expect(await get({ client: "orders", path: "/a/open" })).toMatchObject({ status: 401 })
    expect(finished.at(-1)?.cause).toContain("a revocation list has expired")
    expect(gateway.state().revocationLists).toContainEqual(
      expect.objectContaining({ file: "now.crl", nextUpdate: new Date("2020-02-01T00:00:00Z") }),
    )
    current("root")
    await until(() => reloads.length > 0)
    expect(await get({ client: "orders", path: "/a/open" })).toMatchObject({ status: 401 })
    expect(finished.at(-1)?.cause).toContain("there is no revocation list of its authority")
  })

  test("and authorities without PEM are refused with their file; a wrong change leaves the old ones in use", async () => {
    const refused = await start(textOf('client-certificate require { ca file("root.crl") }')).catch(
      (error: unknown) => error,
    )
    expect(refused).toBeInstanceOf(LoadError)
    expect((refused as LoadError).message).toMatch(
      /`root\.crl` cannot be used: it contains no PEM certificate/,
    )
    current("partners")
    const { reloads } = await start(textOf(demand("require")))
    copyFileSync(join(folder, "ca.pem"), join(folder, "now.crl"))
    await until(() => reloads.length > 0)
    expect(String(reloads[0])).toContain("`now.crl` cannot be used: it contains no PEM revocation list")
    expect(await get({ client: "orders", path: "/a/open" })).toMatchObject({ status: 200 })
  })
})

test("authorities are read again, and their clients on open connections are judged by the new file", async () => {
  copyFileSync(join(folder, "ca.pem"), join(folder, "authorities.pem"))
  const { reloads } = await start(textOf('client-certificate request { ca file("authorities.pem") }'))
  const agent = newAgent()
  expect(await get({ client: "orders", agent })).toMatchObject({ status: 200 })
  copyFileSync(join(folder, "mallory.pem"), join(folder, "authorities.pem"))
  await until(() => reloads.length > 0)
  expect(await get({ client: "orders", agent })).toMatchObject({ status: 401 })
  expect(await get({ agent, path: "/a/open" })).toMatchObject({ status: 200 })
})

test("a WebSocket and a long response end when the certificate of their connection is revoked", async () => {
  const backend = createHttpServer((_, response) => void response.write("begun "))
  backend.on("upgrade", (_, socket: Socket) => {
    socket.on("error", () => undefined)
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
    )
  })
  await new Promise<void>((resolve) => backend.listen(0, "127.0.0.1", resolve))
  current("partners")
  const { finished, reloads } = await start(
    textOf(
      `client-certificate request { ca file("ca.pem"); ${revocation} }`,
      "auth certificate",
      `http://127.0.0.1:${(backend.address() as AddressInfo).port}`,
    ),
  )
  const upgrade =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
  const opened = (client: string, more = "") => {
    const socket = connectTls({
      ...{ host: "127.0.0.1", port, servername: "shop.example", ca: authority.pem, ...shown(client) },
    })
    const seen = { text: "", isClosed: false, socket }
    socket.on("error", () => undefined)
    socket.on("data", (bytes: Buffer) => {
      seen.text += bytes.toString("latin1")
    })
    socket.on("close", () => {
      seen.isClosed = true
    })
    socket.write(`GET /a/sent HTTP/1.1\r\nHost: shop.example\r\n${more}\r\n`)
    return seen
  }
  const all = ["billing", "orders"].flatMap((client) => [opened(client, upgrade), opened(client)])
  await expect.poll(() => all.map(({ text }) => text.slice(9, 12))).toEqual(["101", "200", "101", "200"])
  current("without-billing")
  await until(() => reloads.length > 0)
  await expect.poll(() => all.map(({ isClosed }) => isClosed)).toEqual([true, true, false, false])
  expect(finished.map(({ cause }) => cause)).toEqual([
    expect.stringMatching(/: the client certificate is no longer accepted: it is revoked$/),
    expect.stringMatching(/: the client certificate is no longer accepted: it is revoked$/),
  ])
  for (const { socket } of all) socket.destroy()
  backend.closeAllConnections()
  backend.close()
})

/** A session that the listener offers for resumption, if any. */
function sessionOf(version: "TLSv1.2" | "TLSv1.3"): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    let session: Buffer | undefined
    const socket = connectTls({
      ...{ host: "127.0.0.1", port, servername: "shop.example", ca: authority.pem, ...shown("billing") },
      ...{ minVersion: version, maxVersion: version },
    })
    socket.on("session", (each: Buffer) => {
      session = each
    })
    socket.on("secureConnect", () =>
      socket.write("GET /a HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n"),
    )
    socket.on("data", () => undefined)
    socket.on("close", () => resolve(session))
    socket.on("error", reject)
  })
}

function resumed(
  version: "TLSv1.2" | "TLSv1.3",
  session: Buffer | undefined,
): Promise<{ reused: boolean; status: string }> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      ...{ host: "127.0.0.1", port, servername: "shop.example", ca: authority.pem, ...shown("billing") },
      ...{ minVersion: version, maxVersion: version, session },
    })
    socket.on("secureConnect", () =>
      socket.write("GET /a HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n"),
    )
    socket.on("data", (bytes: Buffer) => {
      resolve({ reused: socket.isSessionReused(), status: bytes.toString("latin1").slice(9, 12) })
      socket.destroy()
    })
    socket.on("error", reject)
  })
}
