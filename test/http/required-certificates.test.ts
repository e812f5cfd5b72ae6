import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { Agent, request } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, expect, test } from "vitest"
import { ClientTrust } from "../../runtime/http/server/client-trust.ts"
import { OwnNames } from "../../runtime/http/server/internal-guard.ts"
import { type Listener, openListener } from "../../runtime/http/server/listener.ts"
import { ListenerTls } from "../../runtime/http/server/tls.ts"
import { certificateWarnings } from "../../runtime/process/certificate-state.ts"
import { Authority } from "../support/certificates.ts"

let folder: string
let authority: Authority
let listener: Listener
let agent: Agent

const read = (name: string) => ({ file: name, text: readFileSync(join(folder, name), "utf8") })

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "required-certificates-"))
  authority = new Authority(folder)
  authority.sign("own", ["own.example"])
  authority.signClient("caller", "/CN=caller")
  authority.revocationList("none", [])
  authority.revocationList("revoked", ["caller"])
  authority.revocationList("old", [], { expired: true })
})

afterEach(async () => {
  agent.destroy()
  await listener.close(0)
})

afterAll(() => rmSync(folder, { recursive: true }))

function transport(revoked: string) {
  const own = { name: "own", cert: read("own.pem").text, key: read("own.key").text }
  const trust = new ClientTrust({
    ...{ demand: "require", hosts: undefined, authorities: [read("ca.pem")], revoked: [read(revoked)] },
  })
  return {
    tls: new ListenerTls({
      ...{ certificates: [own], profile: "intermediate", refusesUnknownHosts: false, clientTrusts: [trust] },
    }),
  }
}

/** A listener as that of the engine: a handler directly behind node:http. */
async function open(revoked: string): Promise<void> {
  agent = new Agent({ keepAlive: true, maxSockets: 1 })
  listener = await openListener(
    { host: "127.0.0.1", port: 0 },
    {
      limits: { headerBytesMax: 16_384, headMs: 10_000, requestMs: 10_000 },
      service: { kind: "bare-handler", handle: ({ reply }) => reply.end("served") },
      guard: {
        names: new OwnNames("own.example", () => []),
        refuse: (_, response, { status, detail }) => {
          response.writeHead(status, [])
          response.end(detail)
        },
      },
      answerRaw: (socket) => socket.end("HTTP/1.1 401 Refused\r\ncontent-length: 3\r\n\r\nraw"),
      transport: transport(revoked),
    },
  )
}

function get(shows: boolean): Promise<string> {
  const client = shows ? { cert: read("caller.pem").text, key: read("caller.key").text } : {}
  const { port } = listener.opened.address
  return new Promise((resolve, reject) => {
    const sent = request({
      host: "127.0.0.1",
      port,
      servername: "own.example",
      ca: authority.pem,
      agent,
      ...client,
    })
    sent.on("error", reject)
    sent.on("response", (response) => {
      let body = ""
      response.on("data", (chunk) => {
        body += String(chunk)
      })
      response.on("end", () => resolve(`${response.statusCode} ${body}`))
    })
    sent.end()
  })
}

test("a caller of the engine needs a certificate, also on an open connection after its list changed", async () => {
  await open("none.crl")
  expect(await get(false)).toBe("401 raw")
  expect(await get(true)).toBe("200 served")
  listener.transport = transport("revoked.crl")
  expect(await get(true)).toMatch(/^401 .*the client certificate is not accepted: it is revoked/)
})

test("a listener without revocation rules of an earlier plan judges its connections by the new ones", async () => {
  await open("none.crl")
  expect(await get(true)).toBe("200 served")
  const next = transport("none.crl")
  listener.transport = next
  expect(await get(true)).toBe("200 served")
})

test("an expired list is a warning", async () => {
  await open("old.crl")
  const { revocationLists } = listener.transport.tls as ListenerTls
  const none = { handshakesFailed: new Map(), floods: new Map(), connectionsRefused: new Map() }
  const listeners = { certificates: [], revocationLists, ...none }
  expect(certificateWarnings({ gateway: undefined, listeners })).toEqual([
    expect.stringMatching(
      /^revocation list old\.crl expired on 2020-02-01, so client certificates of its authority are refused: /,
    ),
  ])
})
