import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, expect, test } from "vitest"
import { listenersOf } from "../../runtime/gateway/generation/listen-addresses.ts"
import { LoadError } from "../../runtime/gateway/generation/load-error.ts"
import { resolveReferences } from "../../runtime/gateway/generation/references.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { addressText, type DeclaredListener } from "../../runtime/plan/resources.ts"
import { freePort } from "../support/free-port.ts"
import { startGateway } from "./harness.ts"
import { planOf } from "./plan-builder.ts"

// The addresses of listeners that come from the environment and from named values.

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const fromValue = { at: { text: [{ value: "host" }, ":8001"] } }

function planAt(listen: readonly DeclaredListener[], port = 1): Plan {
  const plan = planOf({
    ...{
      port,
      routes: [{ path: "/a", inbound: [{ kind: "respond", status: 204, headers: [], media: null }] }],
    },
    backends: { main: "http://127.0.0.1:1" },
    values: { host: { from: { file: "host" } } },
    origins: { gateway: "gateway.conf:4" },
  })
  return {
    ...plan,
    digest: JSON.stringify(listen),
    plan: { ...plan.plan, gateway: { ...plan.plan.gateway, listen } },
  } as Plan
}

async function addressesOf(
  listen: readonly DeclaredListener[],
  environment: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const outside = { environment, folder: folderWith("0.0.0.0\n") }
  const plan = planAt(listen)
  try {
    const references = await resolveReferences(plan, new Set(), outside)
    return listenersOf(plan, "gateway", references, outside).map(addressText)
  } catch (error) {
    if (error instanceof LoadError) return error.problems
    throw error
  }
}

function folderWith(host: string): string {
  const folder = mkdtempSync(join(tmpdir(), "listen-"))
  closers.push(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, "host"), host)
  return folder
}

test("variables, their defaults and named values give addresses", async () => {
  const listen = [
    { at: { env: "PLAIN" } },
    { at: { env: "UNSET", default: "localhost:8002" } },
    fromValue,
    { host: "127.0.0.1", port: 8003 },
  ]
  expect(await addressesOf(listen, { PLAIN: "[0:0::1]:8000" })).toEqual([
    "[::1]:8000",
    "localhost:8002",
    "0.0.0.0:8001",
    "127.0.0.1:8003",
  ])
})

test("all addresses that are unset, invalid or given twice are reported with their place", async () => {
  const listen = [
    { at: { env: "UNSET" } },
    { at: { env: "BARE" } },
    { at: { text: [{ value: "host" }] } },
    fromValue,
    { at: { env: "AGAIN" } },
    { at: { env: "EMPTY", default: "127.0.0.1:1" } },
  ]
  const environment = { BARE: "8000", AGAIN: "0.0.0.0:8001", EMPTY: "" }
  expect(await addressesOf(listen, environment)).toEqual([
    "gateway.conf:4: `listen env(UNSET)`: the environment variable UNSET is not set; set it for this process, e.g. to `0.0.0.0:8000`",
    "gateway.conf:4: `listen env(BARE)`: `8000` has no address; write address and port, e.g. `0.0.0.0:8000`",
    'gateway.conf:4: `listen "${host}"`: `0.0.0.0` is not an address with a port; write address and port, e.g. `0.0.0.0:8000`',
    "gateway.conf:4: two listeners have the address 0.0.0.0:8001; change one of them",
    "gateway.conf:4: `listen env(EMPTY)`: `` is not an address with a port; write address and port, e.g. `0.0.0.0:8000`",
  ])
})

test("a redirect names the port of the first listener with TLS, and needs one", async () => {
  const plan = planAt([
    { at: { env: "PLAIN" }, redirect: {} },
    { at: { env: "TLS" }, tls: { certificates: ["edge"] } },
  ])
  const outside = { environment: { PLAIN: "127.0.0.1:80", TLS: "127.0.0.1:444" }, folder: "." }
  const references = { text: () => "" }
  const [first] = listenersOf(plan, "gateway", references, outside)
  expect(first).toEqual({ host: "127.0.0.1", port: 80, redirect: { port: 444 } })
  const alone = planAt([{ at: { env: "PLAIN" }, redirect: {} }])
  expect(() => listenersOf(alone, "gateway", references, outside)).toThrow(
    "gateway.conf:4: listener 127.0.0.1:80 redirects to HTTPS, and no listener has TLS",
  )
})

test("a gateway listens where the environment says; a plan without its variable changes nothing", async () => {
  const [port, next] = [await freePort(), await freePort()]
  const environment: Record<string, string> = { MAIN: `127.0.0.1:${next}` }
  const folder = folderWith("127.0.0.1")
  const running = await startGateway({ port, routes: [] }, { environment, folder })
  closers.push(() => running.close())
  await running.gateway.apply(planAt([{ at: { env: "MAIN" } }]))
  expect(running.gateway.addresses()).toEqual([`127.0.0.1:${next}`])
  expect((await fetch(`http://127.0.0.1:${next}/a`)).status).toBe(204)
  await expect(running.gateway.apply(planAt([{ at: { env: "LOST" } }]))).rejects.toThrow("LOST is not set")
  expect(running.gateway.addresses()).toEqual([`127.0.0.1:${next}`])
})

test("an address in a file moves with it", async () => {
  const port = await freePort()
  const folder = folderWith("127.0.0.1")
  const running = await startGateway({ port, routes: [] }, { folder, filesEveryMs: 20 })
  closers.push(() => running.close())
  await running.gateway.apply(planAt([{ at: { text: [{ value: "host" }, `:${port}`] } }]))
  expect(running.gateway.addresses()).toEqual([`127.0.0.1:${port}`])
  writeFileSync(join(folder, "host"), "127.0.0.2")
  await expect.poll(() => running.gateway.addresses()).toEqual([`127.0.0.2:${port}`])
})
