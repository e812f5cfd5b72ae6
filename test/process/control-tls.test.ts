import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { connect as connectHttp2 } from "node:http2"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, expect, it } from "vitest"
import { run } from "../cli/run.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { Authority } from "../support/certificates.ts"
import { freePort } from "../support/free-port.ts"
import { askHttp2 } from "../support/http2-client.ts"
import { author, freePorts, planOf, start, token } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** A runtime in a folder with an authority, `ops.pem` and `ops.key`. */
async function startSecured() {
  const cwd = await mkdtemp(join(tmpdir(), "sallyport-control-tls-"))
  stops.push(() => rm(cwd, { recursive: true }))
  const authority = new Authority(cwd)
  authority.sign("ops", ["localhost"])
  const { url, drop } = await createMigratedDatabase()
  stops.push(drop)
  const ports = await freePorts()
  const runtime = await start(url, ports, { cwd })
  stops.push(() => runtime.close())
  const status = (scheme: string, port: number, ...words: string[]) =>
    run(
      { cwd, env: { SALLYPORT_CONTROL_TOKEN: token } },
      ...["status", "--control", `${scheme}://localhost:${port}`, ...words],
    )
  return { authority, cwd, ports, runtime, status }
}

const certificate = 'certificate ops { cert file("ops.pem"); key file("ops.key") }'

describePostgres("the control listener with TLS", () => {
  it("serves commands at the address of the plan, and says what is wrong with a connection", async () => {
    const { authority, ports, runtime, status } = await startSecured()
    const port = await freePort()
    const more = `${certificate}\ncontrol { listen 127.0.0.1:${port} { tls { certificate ops } } }`
    await runtime.apply(planOf(ports, "hello", more), author)
    expect(await status("https", port, "--ca", "ca.pem")).toMatchObject({ code: 0 })

    const plain = await status("http", port)
    expect(plain.err).toMatch(/accepts only HTTPS\nhelp: Write `https:`/)
    const reverse = await status("https", ports.control, "--ca", "ca.pem")
    expect(reverse.err).toMatch(/it does not use TLS.*\nhelp: Write `http:`/)
    const unknown = await status("https", port)
    expect(unknown.err).toMatch(/no known authority signed its certificate .*\nhelp: .*`--ca FILE`/)
    const noFile = await status("https", port, "--ca", "none.pem")
    expect(noFile.err).toMatch(/none\.pem cannot be read \(ENOENT\)/)

    authority.sign("ops", ["other.example"])
    await expect
      .poll(async () => (await status("https", port, "--ca", "ca.pem")).err)
      .toMatch(/for other host names/)
    authority.sign("ops", ["localhost"], { days: -1 })
    await expect.poll(async () => (await status("https", port, "--ca", "ca.pem")).err).toMatch(/has expired/)
    const metrics = await (await fetch(`http://127.0.0.1:${ports.control}/metrics`)).text()
    expect(metrics).toContain(
      'sallyport_tls_handshakes_failed_total{listener="control",reason="plain-http"} 1',
    )
    expect(metrics).toMatch(/sallyport_certificate_not_after_seconds\{certificate="ops"\}/)

    await runtime.apply(planOf(ports), author)
    await expect
      .poll(async () => (await status("https", port, "--ca", "ca.pem")).err)
      .toContain("ECONNREFUSED")
  })

  it("serves HTTP/2 to clients that negotiate it, with the same checks", async () => {
    const { cwd, ports, runtime } = await startSecured()
    const port = await freePort()
    const more = `${certificate}\ncontrol { listen 127.0.0.1:${port} { tls { certificate ops; hsts 1d } } }`
    await runtime.apply(planOf(ports, "hello", more), author)
    const session = connectHttp2(`https://localhost:${port}`, { ca: await readFile(join(cwd, "ca.pem")) })
    stops.push(async () => session.destroy())
    const bearer = { authorization: `Bearer ${token}` }

    const status = await askHttp2(session, { ":path": "/v1/status", ...bearer })
    expect(status).toMatchObject({ status: 200, headers: { "strict-transport-security": "max-age=86400" } })
    expect(JSON.parse(String(status.body))).toHaveProperty("processes")
    expect(await askHttp2(session, { ":path": "/v1/status" })).toMatchObject({ status: 401 })
    const misdirected = await askHttp2(session, {
      ":path": "/v1/status",
      ":authority": "evil.example",
      ...bearer,
    })
    expect(misdirected).toMatchObject({ status: 421 })
    const broken = { ":path": "/v1/plan", ":method": "PUT", "content-type": "application/json", ...bearer }
    expect(await askHttp2(session, broken, "{")).toMatchObject({ status: 400 })
    const stores = await askHttp2(session, { ":path": "/authz/stores", ...bearer })
    expect(stores).toMatchObject({ status: 200 })
    expect(JSON.parse(String(stores.body))).toHaveProperty("stores")
  })

  it("takes the address of the process, and demands client certificates there", async () => {
    const { authority, ports, runtime, status } = await startSecured()
    authority.signClient("ann", "/CN=ann")
    const tls = 'tls { certificate ops; client-certificate require { ca file("ca.pem") } }'
    const more = `${certificate}\ncontrol { listen 127.0.0.1:${ports.control} { ${tls} } }`
    await runtime.apply(planOf(ports, "hello", more), author)
    const refused = await status("https", ports.control, "--ca", "ca.pem")
    expect(refused.err).toMatch(
      /demands a client certificate: .*\nhelp: Give one with `--cert FILE --cert-key FILE`/,
    )
    const half = await status("https", ports.control, "--ca", "ca.pem", "--cert", "ann.pem")
    expect(half.err).toContain("a client certificate needs its private key")
    const ann = ["--ca", "ca.pem", "--cert", "ann.pem", "--cert-key", "ann.key"]
    expect(await status("https", ports.control, ...ann)).toMatchObject({ code: 0 })

    await runtime.apply(planOf(ports), author)
    expect(await status("http", ports.control)).toMatchObject({ code: 0 })
  })

  it("listens at an address from outside, which moves with its file", async () => {
    const { cwd, ports, runtime, status } = await startSecured()
    const [first, second] = [await freePort(), await freePort()]
    const file = join(cwd, "address")
    await writeFile(file, `127.0.0.1:${first}`)
    const more = `${certificate}\nvalue at = file("address")\ncontrol { listen at { tls { certificate ops } } }`
    await runtime.apply(planOf(ports, "hello", more), author)
    expect(await status("https", first, "--ca", "ca.pem")).toMatchObject({ code: 0 })
    await writeFile(file, `127.0.0.1:${second}`)
    await expect.poll(async () => (await status("https", second, "--ca", "ca.pem")).code).toBe(0)
    await expect
      .poll(async () => (await status("https", first, "--ca", "ca.pem")).err)
      .toContain("ECONNREFUSED")
    const unset = "control { listen env(CONTROL_AT) }"
    expect(await runtime.apply(planOf(ports, "hello", unset), author)).toMatchObject({
      kind: "refused",
      problems: [{ message: expect.stringContaining("the environment variable CONTROL_AT is not set") }],
    })
    expect(await status("https", second, "--ca", "ca.pem")).toMatchObject({ code: 0 })
  })

  it("refuses a plan whose address or certificate cannot be used, and keeps the running one", async () => {
    const { ports, runtime, status } = await startSecured()
    await runtime.apply(planOf(ports), author)
    const same = planOf(ports, "hello", `control { listen 127.0.0.1:${ports.control} }`)
    expect(await runtime.apply(same, author)).toMatchObject({ kind: "done" })
    const port = await freePort()
    const wrong = `${certificate.replaceAll("ops.", "none.")}\ncontrol { listen 127.0.0.1:${port} { tls { certificate ops } } }`
    expect(await runtime.apply(planOf(ports, "hello", wrong), author)).toMatchObject({
      kind: "refused",
      problems: [{ message: expect.stringContaining("`none.pem` cannot be read") }],
    })
    expect(await status("http", ports.control)).toMatchObject({ code: 0 })
  })
})
