import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { variables } from "../../compiler/cli/variables.ts"
import { freePorts } from "../e2e/sallyport-process.ts"
import { TestProvider } from "../gateway/oidc-provider.ts"
import { createMigratedDatabase, describePostgres, type TestDatabase } from "../postgres.ts"
import { projectRoot } from "../structure/tree.ts"
import { newCanary, Outputs } from "./secrets/canary.ts"
import { secretPlaces } from "./secrets/places.ts"
import { authKinds, secretSlots } from "./secrets/schema-slots.ts"
import { type CalledServices, startServices } from "./secrets/services.ts"
import { ask, begin, fail, logIn, operate, spoil } from "./secrets/stages.ts"
import { CanaryWorld } from "./secrets/world.ts"

/** Variables of the environment that hold a secret, or say where one is. */
const secretVariables = [
  "SALLYPORT_AUDIT_SINKS",
  "SALLYPORT_AUDIT_TOKEN",
  "SALLYPORT_AUTHZ_TOKEN",
  "SALLYPORT_CONTROL_CERT_KEY",
  "SALLYPORT_CONTROL_TOKEN",
  "SALLYPORT_CONTROL_TOKEN_FILE",
  "SALLYPORT_DATABASE_NOTICES_URL",
  "SALLYPORT_DATABASE_PASSWORD_COMMAND",
  "SALLYPORT_DATABASE_PASSWORD_FILE",
  "SALLYPORT_DATABASE_REPLICA_URL",
  "SALLYPORT_DATABASE_URL",
  "SALLYPORT_WEBHOOK_SECRET",
]
const openVariables = [
  ...["SALLYPORT_CONTROL_CA", "SALLYPORT_CONTROL_CERT", "SALLYPORT_CONTROL_LISTEN", "SALLYPORT_CONTROL_URL"],
  ...["SALLYPORT_DATABASE_POOLER", "SALLYPORT_DATABASE_POOL_SIZE", "SALLYPORT_DATABASE_SCHEMA"],
  ...[
    "SALLYPORT_HOSTS",
    "SALLYPORT_KEEP_PLAN",
    "SALLYPORT_LOG_LEVEL",
    "SALLYPORT_LOG_NAMES",
    "SALLYPORT_SPOOL",
    "SALLYPORT_WEBHOOKS",
    "SALLYPORT_WHO",
    "XDG_CONFIG_HOME",
  ],
  ...["FORCE_COLOR", "NO_COLOR", "PAGER"],
]

/** Some of the outputs that are searched. */
const expectedPlaces = [
  ...["standard output of serve", "standard error of serve", "file audit.jsonl", "file plan.json"],
  ...["body of /collector/v1/traces", "body of /collector/v1/metrics", "body of the audit sink"],
  ...[
    "stream of events",
    "table audit_log",
    "table plans",
    "table refusals",
    "output of `sallyport explain request`",
  ],
  ...[
    "response of the control listener to GET /metrics",
    "response of the control listener to GET /v1/audit",
  ],
]

/** The place of the credential for each way to authenticate. Null: there is none that is secret. */
const placeOfAuth: Readonly<Record<string, string | null>> = {
  basic: "password",
  certificate: null,
  hmac: "webhook_secret",
  introspection: "introspection_secret",
  jwt: "issuer_key",
  key: "engine_key",
  none: null,
  oidc: "login_secret",
  policy: "document_secret",
  subscription: "caller_key",
}

describe("the list of places", () => {
  test("has every place where the language names a secret", () => {
    const slots = secretPlaces.flatMap(({ slots }) => slots).filter((slot) => !slot.endsWith(".ts"))
    expect(slots.sort()).toEqual(secretSlots())
  })

  test("has every text in which the compiler allows secrets", () => {
    const folder = join(projectRoot, "compiler/gateway")
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
      /secrets: true|headerUse\((?!false|secrets: )/.test(
        name.endsWith(".ts") ? readFileSync(join(folder, name), "utf8") : "",
      ),
    )
    const named = secretPlaces.flatMap(({ slots }) => slots).filter((slot) => slot.endsWith(".ts"))
    expect(named.sort()).toEqual(files.sort())
  })

  test("has every way to authenticate", () => {
    expect(Object.keys(placeOfAuth).sort()).toEqual(authKinds())
    const names = secretPlaces.map(({ name }) => name)
    expect(Object.values(placeOfAuth).filter((name) => name !== null && !names.includes(name))).toEqual([])
  })

  test("has every variable of the environment", () => {
    expect([...secretVariables, ...openVariables].sort()).toEqual(Object.keys(variables).sort())
  })

  test("a canary is found in every form", () => {
    const canary = newCanary()
    const hidden = [
      canary.slice(3, -20),
      encodeURIComponent(canary),
      JSON.stringify({ canary }),
      Buffer.from(canary).toString("hex"),
      ...["", "x", "xy", "xyz"].map((before) =>
        Buffer.from(`${before}${canary} and more`).toString("base64"),
      ),
      Buffer.from(`user:${canary}`).toString("base64url"),
      canary.replace(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`),
    ]
    for (const [at, text] of hidden.entries()) {
      const outputs = new Outputs()
      outputs.add("log", `before ${text} after`)
      expect(outputs.find(canary).length, text).toBeGreaterThan(at === 0 ? -1 : 0)
      expect(outputs.find(newCanary())).toEqual([])
    }
  })
})

describePostgres("secrets of a process", () => {
  let world: CanaryWorld
  let services: CalledServices
  let provider: TestProvider
  let database: TestDatabase
  let recorded = 0

  beforeAll(async () => {
    const [gateway = 0, https = 0, authz = 0, control = 0] = await freePorts(4)
    world = new CanaryWorld({ gateway, https, authz, control })
    ;[provider, database] = await Promise.all([TestProvider.start(), createMigratedDatabase()])
    services = await startServices(world.outputs, world.canary("token of a service"))
    const stage = { world, services, provider, databaseUrl: database.url }
    await begin(stage)
    const endEvents = world.watchEvents()
    await ask(stage)
    await logIn(stage)
    await operate(stage)
    await spoil(stage)
    endEvents()
    await fail(stage)
    for (const started of world.processes) await started.stop()
    await world.readDatabase(database.url)
    recorded = await world.readRecord()
    world.readFiles(new Set(["gateway.conf", "url", "edge.pem", "ca.pem"]))
  })

  afterAll(async () => {
    await world?.close()
    await Promise.all([services?.close(), provider?.stop(), database?.drop()])
  })

  test("were used, and their places failed", () => {
    const statuses = Object.fromEntries([...world.statuses].map(([api, all]) => [api, [...all].sort()]))
    for (const { name, api } of secretPlaces) {
      if (api === undefined) continue
      // The provider of the test knows no client credentials.
      if (name !== "backend_client") expect(statuses[name], name).toContain(200)
      if (/\/dead"/.test(api))
        expect(
          statuses[name]?.some((status) => status >= 500),
          name,
        ).toBe(true)
    }
    expect(recorded).toBeGreaterThan(50)
    expect(secretVariables.filter((name) => !world.variables.has(name))).toEqual([])
    expect(world.outputs.places).toEqual(expect.arrayContaining(expectedPlaces))
  })

  test("are in none of its outputs", () => {
    const found = [...world.canaries].flatMap(([name, secret]) =>
      world.outputs.find(secret).map((where) => `${name} is in ${where}`),
    )
    expect(found).toEqual([])
  })
})
