import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { connect } from "node:tls"
import { afterEach, expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { compile } from "../compile.ts"
import { start as startCommand } from "../e2e/sallyport-process.ts"
import { createMigratedDatabase } from "../postgres.ts"
import { freePorts, start } from "../process/project.ts"
import { freePort } from "../support/free-port.ts"
import { type Pebble, pebbleBinary, startPebble } from "../support/pebble.ts"
import { describePgbouncer, startPgbouncer } from "../support/pgbouncer.ts"
import { machine, workersOf } from "../workers/machine.ts"
import { describePebble } from "./describe-pebble.ts"
import { protection } from "./fleet.ts"

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** The file with the secret that protects keys, in the folder of a Pebble, which removes it. */
const protectionOf = ({ caFile }: Pebble) => join(dirname(caFile), "protection")

async function pebbleFor(httpPort: number): Promise<Pebble> {
  const pebble = await startPebble(pebbleBinary() ?? "", { httpPort, tlsPort: 1 })
  stops.push(() => pebble.stop())
  writeFileSync(protectionOf(pebble), protection)
  return pebble
}

/** A gateway whose HTTPS listener has a certificate for `a.example`, with HTTP-01 challenges at the port `http`. */
function configuration(pebble: Pebble, http: number, https: number): string {
  return `
gateway g {
  listen 127.0.0.1:${http} { redirect https }
  listen 127.0.0.1:${https} { tls { certificate edge } }
  trust none
}
secret acme_key = file("${protectionOf(pebble)}")
certificate edge {
  acme { directory "${pebble.directory}"; hosts "a.example"; ca file("${pebble.caFile}"); encrypt-with acme_key }
}
api a { path "/a"; auth none; GET "/" { respond 200 { body text "a" } } }
`
}

/** The serial of the verified certificate that a new connection gets; undefined: it gets none. */
function serialShown(port: number, root: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, servername: "a.example", ca: root }, () => {
      resolve(socket.getPeerCertificate().serialNumber)
      socket.destroy()
    })
    socket.on("error", () => resolve(undefined))
  })
}

/** Waits until every one of several new connections gets one same certificate. */
async function served(port: number, pebble: Pebble): Promise<string> {
  const root = await pebble.root()
  const all = async () => [
    ...new Set(await Promise.all(Array.from({ length: 20 }, () => serialShown(port, root)))),
  ]
  await expect.poll(all).toEqual([expect.stringMatching(/^[0-9A-F]+$/)])
  return (await all())[0] ?? ""
}

describePgbouncer("through a pooler in transaction mode", () => {
  describePebble("two processes share a certificate", () => {
    test.each([true, false])(
      "one orders it, the other answers the challenge; with notices: %j",
      async (withNotices) => {
        const { url: direct, drop } = await createMigratedDatabase()
        stops.push(drop)
        const pooler = await startPgbouncer(Number(new URL(direct).port), ["default_pool_size = 2"])
        stops.push(pooler.stop)
        const url = pooler.through(direct)
        const database = {
          url,
          pooler: "transaction",
          ...(withNotices ? { noticesUrl: direct } : {}),
        } as const
        const http = await freePort()
        const pebble = await pebbleFor(http)
        const serve = async (httpPort: number, ordersCertificates: boolean) => {
          const ports = await freePorts()
          const files = new MemoryFiles([["gateway.conf", configuration(pebble, httpPort, ports.gateway)]])
          const { plan } = compile(files, "gateway.conf")
          if (plan === undefined) throw new Error("the configuration does not compile")
          const own = { database, plan, ordersCertificates }
          const runtime = await start(url, ports, own, ["gateway", "control"])
          stops.push(() => runtime.close())
          return { runtime, port: ports.gateway }
        }
        // Only this process is reached by the authority, so the database has to bring it the response.
        const answering = await serve(http, false)
        const ordering = await serve(await freePort(), true)
        const serial = await served(ordering.port, pebble)
        expect(await served(answering.port, pebble)).toBe(serial)
        const lines = [...ordering.runtime.lines, ...answering.runtime.lines]
        expect(lines.filter((line) => /a certificate was issued/.test(line))).toHaveLength(1)
        expect(lines.filter((line) => /prepared statement|could not be ordered/.test(line))).toEqual([])
      },
    )
  })
})

describePebble("with workers", () => {
  const here = machine()

  test("one orders the certificate, all serve it, and one that replaces another too", async () => {
    const [https, , , http] = here.ports
    const pebble = await pebbleFor(http)
    here.write(configuration(pebble, http, https))
    const serving = here.serve("--workers", "2")
    await serving.printed(/"started"/)
    expect(await here.sallyport("apply", "--yes", "--wait", "60s")).toMatchObject({ code: 0 })
    const serial = await served(https, pebble)
    const issued = () => here.metric('sallyport_acme_orders_total{certificate="edge",result="issued"}')
    await expect.poll(issued).toBe(1)
    const [worker = 0] = await workersOf(here, 2)
    process.kill(worker, "SIGKILL")
    await expect.poll(async () => (await workersOf(here, 2)).includes(worker)).toBe(false)
    expect(await served(https, pebble)).toBe(serial)
    expect(serving.output.out.match(/a certificate was issued/g)).toHaveLength(1)
    expect(await serving.stop()).toBe(0)
  })
})

describePebble("with the embedded database", () => {
  test("the certificate is ordered, and is there after a restart without another order", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sallyport-acme-"))
    stops.push(() => rmSync(folder, { recursive: true, force: true }))
    const [http, https, control] = [await freePort(), await freePort(), await freePort()]
    const pebble = await pebbleFor(http)
    writeFileSync(join(folder, "gateway.conf"), configuration(pebble, http, https))
    const env = { SALLYPORT_CONTROL_LISTEN: `127.0.0.1:${control}`, SALLYPORT_DATABASE_URL: "" }
    const serve = () => {
      const serving = startCommand(folder, env, "serve", "--config", "gateway.conf")
      stops.push(() => serving.stop("SIGKILL"))
      return serving
    }
    const first = serve()
    await first.printed(/"a certificate was issued"/)
    const serial = await served(https, pebble)
    expect(await first.stop()).toBe(0)
    const second = serve()
    await second.printed(/"started"/)
    expect(await served(https, pebble)).toBe(serial)
    expect(second.output.out).not.toMatch(/ordering a certificate/)
    expect(await second.stop()).toBe(0)
  })
})
