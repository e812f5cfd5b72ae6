import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect, type PeerCertificate } from "node:tls"
import { afterEach, expect, it } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { compile } from "../compile.ts"
import { createMigratedDatabase } from "../postgres.ts"
import { control, freePorts, type Ports, start } from "../process/project.ts"
import { freePort } from "../support/free-port.ts"
import { type Pebble, type PebbleOptions, pebbleBinary, startPebble } from "../support/pebble.ts"
import { describePebble } from "./describe-pebble.ts"

const binary = pebbleBinary()
const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** One fleet: its ports, its folder and its database. `http` is the port at which Pebble validates. */
interface World {
  readonly ports: Ports
  readonly http: number
  readonly cwd: string
  readonly url: string
  readonly pebble: Pebble
}

async function world(options: Partial<PebbleOptions> = {}): Promise<World> {
  const ports = await freePorts()
  const http = await freePort()
  const pebble = await startPebble(binary ?? "", { httpPort: http, tlsPort: ports.gateway, ...options })
  stops.push(() => pebble.stop())
  const cwd = await mkdtemp(join(tmpdir(), "sallyport-acme-"))
  stops.push(() => rm(cwd, { recursive: true }))
  const { url, drop } = await createMigratedDatabase()
  stops.push(drop)
  return { ports, http, cwd, url, pebble }
}

const env = {
  ACME_KEY: "0123456789abcdef0123456789abcdef",
  EAB_KEY: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
}

/** A project whose HTTPS listener has a certificate from Pebble. `acme`: further statements. */
function planOf({ ports, http, pebble }: World, acme: string, from = pebble): Plan {
  const text = `
    gateway g {
      listen 127.0.0.1:${http} { redirect https }
      listen 127.0.0.1:${ports.gateway} { tls { certificate edge } }
      trust none
    }
    secret acme_key = env(ACME_KEY)
    secret eab_key = env(EAB_KEY)
    certificate edge {
      acme { directory "${from.directory}"; ca file("${from.caFile}"); encrypt-with acme_key; ${acme} }
    }
    api a { path "/a"; auth none; GET "/" { respond 200 { body text "a" } } }
  `
  const { plan, diagnostics } = compile(new MemoryFiles([["gateway.conf", text]]), "gateway.conf")
  if (plan === undefined) throw new Error(JSON.stringify(diagnostics, null, 1))
  return plan
}

async function serve(world: World, acme: string, more: Parameters<typeof start>[2] = {}) {
  const { url, ports, cwd } = world
  const runtime = await start(url, ports, { cwd, env, plan: planOf(world, acme), ...more }, [
    "gateway",
    "control",
  ])
  stops.push(() => runtime.close())
  return runtime
}

/** The certificate that a client of a host gets, which it verifies. */
function shown(port: number, servername: string, ca: string): Promise<PeerCertificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, servername, ca }, () => {
      resolve(socket.getPeerCertificate())
      socket.destroy()
    })
    socket.on("error", reject)
  })
}

const warnings = async ({ ports }: World) =>
  (await control(ports, "GET", "/v1/status")).body["warnings"] as readonly string[]

describePebble("a gateway with a certificate from ACME", () => {
  it("orders it by HTTP-01 for several hosts, before a redirect to HTTPS, and again for other hosts", async () => {
    const made = await world()
    const runtime = await serve(made, 'hosts "a.example" "b.example"')
    const port = made.ports.gateway
    const root = await made.pebble.root()
    expect(await warnings(made)).toEqual([
      expect.stringMatching(/^certificate edge \(a\.example, b\.example\) is ordered/),
    ])
    await expect.poll(() => shown(port, "a.example", root).then(() => "ok", String)).toBe("ok")
    expect((await shown(port, "b.example", root)).subjectaltname).toBe("DNS:a.example, DNS:b.example")
    expect(await warnings(made)).toEqual([])
    expect(runtime.lines.join("")).toMatch(/"msg":"a certificate was issued"/)
    const metrics = await (await fetch(`http://127.0.0.1:${made.ports.control}/metrics`)).text()
    expect(metrics).toContain('sallyport_acme_orders_total{certificate="edge",result="issued"} 1')
    expect(metrics).toMatch(/^sallyport_certificate_not_after_seconds\{certificate="edge"\} \d+$/m)
    // A challenge that is not ours belongs to the routes, which here are behind the redirect.
    const other = await fetch(`http://127.0.0.1:${made.http}/.well-known/acme-challenge/${"x".repeat(40)}`, {
      redirect: "manual",
    })
    expect(other.status).toBe(308)
  })

  it("refuses a secret that is too short, and names it", async () => {
    const made = await world()
    const short = { ...env, ACME_KEY: "short" }
    await expect(serve(made, 'hosts "a.example"', { env: short })).rejects.toThrow(
      /^gateway\.conf:\d+: certificate `edge`: the secret `acme_key` has 5 characters, and an encryption key needs 22/,
    )
  })

  it("orders it by TLS-ALPN-01, with an external account, and refuses handshakes before", async () => {
    const made = await world({ externalAccounts: { "kid-1": env.EAB_KEY } })
    const account = 'external-account "kid-1" secret eab_key'
    await serve(made, `hosts "a.example"; challenge tls-alpn-01; ${account}`)
    const root = await made.pebble.root()
    await expect(shown(made.ports.gateway, "a.example", root)).rejects.toThrow()
    await expect.poll(() => shown(made.ports.gateway, "a.example", root).then(() => "ok", String)).toBe("ok")
    const metrics = await (await fetch(`http://127.0.0.1:${made.ports.control}/metrics`)).text()
    expect(metrics).toMatch(
      /^sallyport_tls_handshakes_failed_total\{listener="gateway",reason="no-certificate"\} [1-9]/m,
    )
  })
})
