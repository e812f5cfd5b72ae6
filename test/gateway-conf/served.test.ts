import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { CheckAnswer } from "../../runtime/check/ports.ts"
import { createGateway, type Gateway } from "../../runtime/gateway/gateway.ts"
import { createVerifier } from "../../runtime/identity/issuer.ts"
import { createKeyTable } from "../../runtime/identity/keys.ts"
import { createMemoryLimiter } from "../../runtime/limits/memory.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { compile } from "../compile.ts"
import { authorizerOf } from "../gateway/authorizer.ts"
import { freePort } from "../support/free-port.ts"
import { sampleDeclarations, sampleModel } from "./sample.ts"

const cases = fileURLToPath(new URL("../cases/gateway", import.meta.url))

/** Every project of the cases that has a plan: their corrections and those that show one. */
function projects(): (readonly [string, [string, string][], string])[] {
  const sample: [string, string][] = [
    ["gateway.conf", sampleDeclarations.join("\n")],
    ["acme.fga", sampleModel],
  ]
  const found = readdirSync(cases).flatMap((name) => {
    const pieces = readFileSync(join(cases, name), "utf8").split(/^-- (.+) --$/m)
    const files: [string, string][] = []
    for (let at = 1; at < pieces.length; at += 2) files.push([pieces[at] as string, pieces[at + 1] as string])
    const entries = files
      .map(([path]) => path)
      .filter((path) => path === "right.conf" || name.startsWith("plan-"))
    return entries.filter((path) => path.endsWith(".conf")).map((entry) => [name, files, entry] as const)
  })
  return [["sample", sample, "gateway.conf"], ...found]
}

/** A port for each listener, so that nothing else has to be free. */
async function moved(plan: Plan): Promise<Plan> {
  const { gateway } = plan.plan
  if (gateway === null) return plan
  const listen = await Promise.all(
    gateway.listen.map(async () => ({ host: "127.0.0.1", port: await freePort() })),
  )
  return { ...plan, plan: { ...plan.plan, gateway: { ...gateway, listen } } }
}

/** Names of the cluster and of the network are read when the plan is loaded; the cases have none. */
function findsTargets({ plan }: Plan): boolean {
  return Object.values(plan.backends).some(({ discovery }) => discovery !== undefined)
}

/** Certificates are read when the plan is loaded; the cases have none. */
function hasCertificates(plan: Plan): boolean {
  return (
    Object.values(plan.plan.backends).some(({ tls }) => tls.ca !== undefined) ||
    JSON.stringify(plan.plan.issuers).includes('"certificate"') ||
    plan.plan.gateway?.shared?.tls?.ca !== undefined ||
    plan.plan.certificates !== undefined
  )
}

// The compiler and the runtime judge the same texts in two places: what one accepts the other must be able to serve.
describe("what compiles can be served", () => {
  /** Variables that are not URLs of HTTP. Nothing listens on port 1. */
  const values: Readonly<Record<string, string>> = {
    HOST: "127.0.0.1",
    APP_ORIGIN: "https://app.example",
    KEY: "a key of sessions that is long enough",
    OLD: "a key of sessions that was used before",
    REDIS_URL: "rediss://127.0.0.1:1",
    WEBHOOK_KEY: Buffer.alloc(32).toString("base64"),
  }
  let gateway: Gateway
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "served-"))
    gateway = createGateway({
      createVerifier: (settings) => createVerifier(settings),
      createKeyTable,
      limiter: createMemoryLimiter(),
      quotas: { take: () => ({ allowed: true }), add: () => undefined },
      authorizerOf: () => authorizerOf((): CheckAnswer => ({ allowed: false, revision: 0, stamp: "" })),
      observer: { finished: () => undefined },
      environment: new Proxy(
        {},
        { get: (_, name) => values[String(name)] ?? `http://127.0.0.1/${String(name)}` },
      ),
      folder,
    })
  })

  afterAll(async () => {
    await gateway.close(0)
    rmSync(folder, { recursive: true })
  })

  test.each(projects())("%s", async (_name, files, entry) => {
    const { plan } = compile(new MemoryFiles(files), entry)
    expect(plan).toBeDefined()
    if (plan === undefined || hasCertificates(plan) || findsTargets(plan) || plan.plan.gateway === null)
      return
    for (const [, path] of JSON.stringify(plan.plan).matchAll(/"file":"([^"]+)"/g)) {
      if (path === undefined || path.startsWith("/")) return
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), JSON.stringify({ keys: [] }))
    }
    const prepared = await gateway.prepare(await moved(plan))
    await prepared.discard()
  })
})
