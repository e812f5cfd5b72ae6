import { execFile } from "node:child_process"
import { X509Certificate } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest"
import { HttpClient } from "../../runtime/http/client/http-client.ts"
import { ClientTrust } from "../../runtime/http/server/client-trust.ts"
import { openListener } from "../../runtime/http/server/listener.ts"
import { OcspStaples, type StapleState } from "../../runtime/http/server/ocsp-staples.ts"
import { ListenerTls, type ListenerTlsSettings } from "../../runtime/http/server/tls.ts"
import { certificateWarnings } from "../../runtime/process/certificate-state.ts"
import { responderClient } from "../../runtime/process/open-staples.ts"
import { Authority } from "../support/certificates.ts"
import { Responder } from "../support/responder.ts"

let folder: string
let authority: Authority
let responder: Responder
let url: string
let now: number
let told: StapleState[]
const closers: (() => unknown)[] = []

const dayMs = 86_400_000
const text = (file: string) => readFileSync(join(folder, file), "utf8")
const served = (name: string) => ({ name, cert: text(`${name}.pem`), key: text(`${name}.key`) })
const serialOf = (name: string) => new X509Certificate(text(`${name}.pem`)).serialNumber

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "ocsp-"))
  authority = new Authority(folder)
  responder = new Responder(folder)
  url = await responder.start()
  const names = [`authorityInfoAccess=OCSP;URI:${url}`]
  authority.sign("own", ["own.example"], { more: names, withChain: true })
  authority.sign("must", ["must.example"], { more: [...names, "tlsfeature=status_request"], withChain: true })
  authority.sign("bare", ["bare.example"], { more: names })
  authority.sign("plain", ["plain.example"], { withChain: true })
  authority.signClient("delegate", "/CN=delegate", ["extendedKeyUsage=OCSPSigning"])
  authority.signClient("other", "/CN=other")
})

beforeEach(() => {
  now = Date.now()
  told = []
  responder.fault = undefined
  responder.requests = 0
  responder.saying = { serials: { [serialOf("own")]: "V", [serialOf("must")]: "V" } }
})

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

afterAll(() => {
  responder.close()
  rmSync(folder, { recursive: true })
})

function staplesFor(...certificates: ReturnType<typeof served>[]): OcspStaples {
  const http = new HttpClient()
  closers.push(() => http.close())
  const ask = responderClient(http)
  const staples = new OcspStaples({ ask, onChange: (state) => told.push(state), now: () => now })
  closers.push(() => staples.close())
  staples.use("gateway", certificates)
  return staples
}

/** What OpenSSL's client says about the response that it gets. */
async function askedBy(port: number, ...options: readonly string[]): Promise<string> {
  const ca = join(folder, "ca.pem")
  const args = ["s_client", "-connect", `127.0.0.1:${port}`, "-servername", "own.example", "-status"]
  return await new Promise((resolve) => {
    const client = execFile("openssl", [...args, "-CAfile", ca, ...options], (_, out) => resolve(out))
    client.stdin?.end()
  })
}

async function listenWith(more: Partial<ListenerTlsSettings>): Promise<number> {
  const tls = new ListenerTls({
    ...{ certificates: [served("own")], profile: "intermediate", refusesUnknownHosts: false, ...more },
  })
  const listener = await openListener(
    { host: "127.0.0.1", port: 0 },
    {
      limits: { headerBytesMax: 16_384, headMs: 10_000, requestMs: 10_000 },
      service: { kind: "bare-handler", handle: ({ reply }) => reply.end("served") },
      answerRaw: (socket) => socket.destroy(),
      transport: { tls },
    },
  )
  closers.push(() => listener.close(0))
  return listener.opened.address.port
}

test("a good response is stapled to handshakes of TLS 1.2 and 1.3, also of listeners that ask for certificates", async () => {
  const staples = staplesFor(served("own"))
  const findStaple = staples.find
  const port = await listenWith({ findStaple })
  const trust = new ClientTrust({
    ...{ demand: "request", hosts: undefined, revoked: undefined },
    authorities: [{ file: "ca.pem", text: text("ca.pem") }],
  })
  const asking = await listenWith({ findStaple, clientTrusts: [trust] })
  await expect.poll(() => staples.states[0]?.endsMs).toBeDefined()
  for (const [at, version] of [
    [port, "-tls1_2"],
    [port, "-tls1_3"],
    [asking, "-tls1_3"],
  ] as const) {
    const said = await askedBy(at, version)
    expect(said).toContain("OCSP Response Status: successful")
    expect(said).toContain("Cert Status: good")
  }
  expect(responder.requests).toBe(1)
  expect(await askedBy(await listenWith({}))).toContain("OCSP response: no response sent")
})

test("a revoked certificate has no staple, and status says so", async () => {
  responder.saying = { serials: { [serialOf("own")]: "R" } }
  const staples = staplesFor(served("own"))
  await expect.poll(() => told).toHaveLength(1)
  expect(told[0]).toMatchObject({ isRevoked: true, endsMs: undefined })
  expect(await askedBy(await listenWith({ findStaple: staples.find }))).toContain("no response sent")
  expect(certificateWarnings({ gateway: undefined, listeners: undefined, staples })).toEqual([
    "certificate own is revoked by its authority, so clients may refuse it: replace it",
  ])
})

test("a responder signs for the authority only with a certificate for it", async () => {
  responder.saying = { ...responder.saying, signer: "delegate" }
  const staples = staplesFor(served("own"))
  await expect.poll(() => staples.states[0]?.endsMs).toBeDefined()
  responder.saying = { ...responder.saying, signer: "other" }
  staplesFor(served("own"))
  await expect
    .poll(() => told.map(({ reason }) => reason))
    .toEqual([`the responder ${url} sent a response that the authority of the certificate did not sign`])
})

test.each([
  ["answered 503", { status: 503, body: Buffer.of() }],
  ["sent no valid OCSP response", { status: 200, body: Buffer.from("<html>") }],
  ["sent no valid OCSP response", { status: 200, body: Buffer.of() }],
  ["refuses the request: tryLater", { status: 200, body: Buffer.from("30030a0103", "hex") }],
] as const)("a responder that %s is a failure", async (reason, fault) => {
  responder.fault = fault
  const staples = staplesFor(served("own"))
  await expect.poll(() => told.map((state) => state.reason)).toEqual([`the responder ${url} ${reason}`])
  expect(staples.states[0]).toMatchObject({ failures: 1, endsMs: undefined })
})

test("responses about other certificates, of the past and of the future are refused", async () => {
  const failure = async (): Promise<string | undefined> => {
    told = []
    staplesFor(served("own"))
    await expect.poll(() => told).toHaveLength(1)
    return told[0]?.reason?.replace(`the responder ${url} `, "")
  }
  responder.saying = { serials: {} }
  expect(await failure()).toBe("does not know the certificate")
  responder.saying = { serials: { [serialOf("own")]: "V" } }
  now = Date.now() + 8 * dayMs
  expect(await failure()).toMatch(/^sent a response that expired at /)
  now = Date.now() - dayMs
  expect(await failure()).toMatch(/^sent a response that is not valid before /)
})

test("a response is stapled until it ends, and no longer", async () => {
  const staples = staplesFor(served("own"))
  await expect.poll(() => staples.states[0]?.endsMs).toBeDefined()
  const leaf = new X509Certificate(text("own.pem")).raw
  now += 6 * dayMs
  expect(staples.find(leaf)).toBeInstanceOf(Buffer)
  now += 2 * dayMs
  expect(staples.find(leaf)).toBeUndefined()
  staples.use("gateway", [])
  expect(staples.states).toEqual([])
})

test("a certificate that demands a staple is told when it has none", async () => {
  const warnings = (staples: OcspStaples) =>
    certificateWarnings({ gateway: undefined, listeners: undefined, staples })
  const off = staplesFor({ ...served("must"), staples: false } as ReturnType<typeof served>)
  expect(warnings(off)).toEqual([
    "certificate must demands a stapled OCSP response (must-staple), and there is none: `ocsp-stapling off` is set; clients may refuse it",
  ])
  off.use("gateway", [served("must")])
  await expect.poll(() => off.states[0]?.endsMs).toBeDefined()
  expect(warnings(off)).toEqual([])
})

test("certificates without responder are left alone; one without its issuer is a failure", () => {
  const staples = staplesFor(served("plain"), served("bare"))
  expect(staples.states).toMatchObject([
    { name: "bare", failures: 1, reason: expect.stringContaining("append it to the file of `cert`") },
  ])
  expect(responder.requests).toBe(0)
})
