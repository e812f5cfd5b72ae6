import { readFileSync } from "node:fs"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { afterEach, expect, test } from "vitest"
import { until } from "../support/until.ts"
import { startGateway } from "./harness.ts"

const folder = fileURLToPath(new URL("certificates/", import.meta.url))
const file = (name: string) => readFileSync(`${folder}${name}`)
const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

interface Row {
  name: string
  certificate: string
  host?: string
  ca?: boolean
  insecure?: boolean
  maxVersion?: "TLSv1.1"
  preserveHost?: boolean
  status: number
}

/** All certificates but one are signed by ca.pem, for localhost and 127.0.0.1. */
const rows: Row[] = [
  { name: "a good certificate", certificate: "good", ca: true, status: 200 },
  { name: "a good certificate, by name", certificate: "good", host: "localhost", ca: true, status: 200 },
  {
    name: "a good certificate, whatever Host the client sends",
    certificate: "good",
    host: "localhost",
    ca: true,
    preserveHost: true,
    status: 200,
  },
  { name: "an authority nobody named", certificate: "good", status: 502 },
  { name: "another authority", certificate: "unknown-authority", ca: true, status: 502 },
  { name: "a self-signed certificate", certificate: "self-signed", ca: true, status: 502 },
  { name: "another name", certificate: "wrong-name", ca: true, status: 502 },
  {
    name: "another name that the client says in Host",
    certificate: "wrong-name",
    host: "localhost",
    ca: true,
    preserveHost: true,
    status: 502,
  },
  { name: "an expired certificate", certificate: "expired", ca: true, status: 502 },
  { name: "TLS 1.1", certificate: "good", ca: true, maxVersion: "TLSv1.1", status: 502 },
  {
    name: "a self-signed certificate where the plan says insecure",
    certificate: "self-signed",
    insecure: true,
    status: 200,
  },
]

/** A backend with `http2` negotiates the version of HTTP in the same handshake. */
const both = [false, true].flatMap((http2) => rows.map((row) => ({ ...row, http2 })))

test.each(both)("$name, http2 $http2 → $status", async (row) => {
  let requests = 0
  const server = createServer(
    {
      cert: file(`${row.certificate}.pem`),
      key: file("server.key"),
      ...(row.maxVersion === undefined
        ? {}
        : { minVersion: "TLSv1", maxVersion: row.maxVersion, ciphers: "ALL:@SECLEVEL=0" }),
    },
    (_request, response) => {
      requests += 1
      response.end("ok")
    },
  )
  server.on("tlsClientError", () => undefined)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const running = await startGateway(
    {
      backends: {
        main: {
          targets: [{ url: `https://${row.host ?? "127.0.0.1"}:${port}`, weight: 1 }],
          connectMs: 2_000,
          totalMs: null,
          http2: row.http2,
          tls: { insecure: row.insecure ?? false, ...(row.ca === true ? { ca: { file: "ca.pem" } } : {}) },
        },
      },
      routes: [
        {
          path: "/a",
          inbound: row.preserveHost === true ? [{ kind: "set-host", host: { preserve: true } }] : [],
        },
      ],
    },
    { folder },
  )
  closers.push(() => running.close())
  for (const host of ["other.example", "third.example"]) {
    const answer = await fetch(`${running.url}/a`, { headers: { host } })
    expect(answer.status).toBe(row.status)
    expect(await answer.text()).not.toMatch(/certificate|TLS|SSL|self/i)
  }
  expect(requests).toBe(row.status === 200 ? 2 : 0)
  await until(() => running.log.length === 2)
})
