import { X509Certificate } from "node:crypto"
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, expect, it } from "vitest"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { Authority, getSecured } from "../support/certificates.ts"
import { Responder } from "../support/responder.ts"
import { until } from "../support/until.ts"
import { author, control, freePorts, planOf, planWithTls, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

describePostgres("a process whose gateway and engine serve HTTPS", () => {
  it("reads the certificate of both from secrets, and names those that do not fit", async () => {
    const cwd = await mkdtemp(join(tmpdir(), "sallyport-tls-"))
    stops.push(() => rm(cwd, { recursive: true }))
    const authority = new Authority(cwd)
    const [own, other] = [authority.sign("own", ["own.example"]), authority.sign("other", ["own.example"])]
    const env = {
      ANN_KEY: "a",
      BOB_KEY: "b",
      PEM: await readFile(own.cert, "utf8"),
      KEY: await readFile(own.key, "utf8"),
    }
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const ports = await freePorts()
    const plan = planWithTls(
      ports,
      "secret pem = env(PEM)\nsecret pem_key = env(KEY)\ncertificate own { cert pem; key pem_key }",
    )
    const wrong = start(url, ports, { cwd, env: { ...env, KEY: await readFile(other.key, "utf8") }, plan })
    await expect(wrong).rejects.toThrow(/secret `pem_key` does not belong to .* secret `pem`/)
    const runtime = await start(url, ports, { cwd, env, plan })
    stops.push(() => runtime.close())
    expect((await getSecured(ports.gateway, "/hello", authority.pem)).status).toBe(200)
    expect((await getSecured(ports.authz, "/healthz", authority.pem)).status).toBe(200)
  })

  it("serves both, operators reach the engine, renewed files are used, and `status` and metrics show the end", async () => {
    const cwd = await mkdtemp(join(tmpdir(), "sallyport-tls-"))
    stops.push(() => rm(cwd, { recursive: true }))
    const authority = new Authority(cwd)
    authority.sign("own", ["own.example"], { days: 5 })
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const ports = await freePorts()
    const runtime = await start(url, ports, { cwd })
    stops.push(() => runtime.close())
    await runtime.apply(planOf(ports), author)
    await runtime.apply(planWithTls(ports), author)

    const { pem } = authority
    const [gateway, engine] = [
      await getSecured(ports.gateway, "/hello", pem),
      await getSecured(ports.authz, "/healthz", pem),
    ]
    expect([gateway.status, engine.status]).toEqual([200, 200])
    expect(await (await fetch(`http://127.0.0.1:${ports.authz}/healthz`)).status).toBe(400)
    expect((await control(ports, "GET", "/authz/stores")).status).toBe(200)
    expect(await runtime.seed("acme", [{ user: "user:bob", relation: "viewer", object: "order:2" }])).toBe(1)

    const warnings = async () => (await control(ports, "GET", "/v1/status")).body["warnings"] as string[]
    expect(await warnings()).toEqual([
      expect.stringMatching(/^certificate own \(own\.example\) expires in [45] days, on \d{4}-\d\d-\d\d: /),
    ])
    expect((await control(ports, "GET", "/v1/status")).body["certificates"]).toEqual([
      { name: "own", hosts: ["own.example"], notAfter: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) },
    ])
    const metrics = await (await fetch(`http://127.0.0.1:${ports.control}/metrics`)).text()
    expect(metrics).toMatch(/^sallyport_certificate_not_after_seconds\{certificate="own"\} \d+$/m)
    expect(metrics).toContain('sallyport_tls_handshakes_failed_total{listener="authz",reason="plain-http"} 1')

    const renewed = authority.sign("renewed", ["own.example"])
    await copyFile(renewed.key, join(cwd, "own.key"))
    await copyFile(renewed.cert, join(cwd, "own.pem"))
    for (const [port, path, before] of [
      [ports.gateway, "/hello", gateway],
      [ports.authz, "/healthz", engine],
    ] as const)
      await until(async () => (await getSecured(port, path, pem)).certificate !== before.certificate)
    expect(await warnings()).toEqual([])
  })

  it("staples what the authority says about its certificate, and tells when that is `revoked`", async () => {
    const cwd = await mkdtemp(join(tmpdir(), "sallyport-tls-"))
    stops.push(() => rm(cwd, { recursive: true }))
    const [authority, responder] = [new Authority(cwd), new Responder(cwd)]
    stops.push(async () => responder.close())
    const more = [`authorityInfoAccess=OCSP;URI:${await responder.start()}`]
    const { cert } = authority.sign("own", ["own.example"], { more, withChain: true })
    const serial = new X509Certificate(await readFile(cert)).serialNumber
    responder.saying = { serials: { [serial]: "V" } }
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const ports = await freePorts()
    const runtime = await start(url, ports, { cwd })
    stops.push(() => runtime.close())
    await runtime.apply(planWithTls(ports), author)
    const metrics = async () => (await fetch(`http://127.0.0.1:${ports.control}/metrics`)).text()
    await expect.poll(metrics).toMatch(/^sallyport_ocsp_next_update_seconds\{certificate="own"\} [1-9]\d+$/m)
    // The gateway and the engine share it.
    expect(responder.requests).toBe(1)

    responder.saying = { serials: { [serial]: "R" } }
    const off = 'certificate own { cert file("own.pem"); key file("own.key"); ocsp-stapling off }'
    await runtime.apply(planWithTls(ports, off), author)
    expect(await metrics()).not.toMatch(/^sallyport_ocsp_next_update_seconds\{/m)
    await runtime.apply(planWithTls(ports), author)
    await expect.poll(metrics).toContain('sallyport_certificate_revoked{certificate="own"} 1')
    expect((await control(ports, "GET", "/v1/status")).body["warnings"]).toEqual([
      "certificate own is revoked by its authority, so clients may refuse it: replace it",
    ])
  })
})
