import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { TicketKeys } from "../../runtime/http/server/ticket-keys.ts"
import { ListenerTls, type ListenerTlsSettings } from "../../runtime/http/server/tls.ts"
import { Authority } from "../support/certificates.ts"

const folder = mkdtempSync(join(tmpdir(), "sallyport-kept-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const authority = new Authority(folder)
const pairOf = (name: string) => {
  const { cert, key } = authority.sign(name, [`${name}.example`])
  return { name: "own", cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") }
}
const own = pairOf("own")
const keys = new TicketKeys()
const settings = (): ListenerTlsSettings => ({
  certificates: [{ ...own }, { name: "next", hosts: ["next.example"] }],
  ...{ profile: "intermediate", refusesUnknownHosts: false, http2: true },
  tickets: { keys, listener: "gateway 0.0.0.0:443" },
})
const tls = new ListenerTls(settings())

test("the TLS of a listener stays while a plan says the same", () => {
  expect(tls.fits(settings())).toBe(true)
})

test.each<[string, Partial<ListenerTlsSettings>]>([
  ["another certificate", { certificates: [pairOf("other"), { name: "next", hosts: ["next.example"] }] }],
  ["a certificate that has arrived", { certificates: [own, { ...own, name: "next" }] }],
  ["one certificate less", { certificates: [own] }],
  ["other hosts", { certificates: [own, { name: "next", hosts: ["next.example", "b.example"] }] }],
  [
    "no stapling",
    {
      certificates: [
        { ...own, staples: false },
        { name: "next", hosts: ["next.example"] },
      ],
    },
  ],
  ["another profile", { profile: "modern" }],
  ["unknown hosts refused", { refusesUnknownHosts: true }],
  ["no HTTP/2", { http2: false }],
  ["staples", { findStaple: () => undefined }],
  ["other ticket keys", { tickets: { keys: new TicketKeys(), listener: "gateway 0.0.0.0:443" } }],
  ["another listener", { tickets: { keys, listener: "engine 0.0.0.0:443" } }],
  ["client certificates", { clientTrusts: [] }],
  ["challenges", { findValidation: async () => undefined }],
])("it is made again: %s", (_, change) => {
  expect(tls.fits({ ...settings(), ...change })).toBe(false)
})
