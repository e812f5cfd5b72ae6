import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { afterEach, expect, it } from "vitest"
import { sendRaw } from "../gateway/harness.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, call, control, freePorts, type Ports, planOfEngine, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const env = { APP_KEY: "the-key-of-the-app", ANN_KEY: "key-of-ann", BOB_KEY: "key-of-bob" }

async function database(): Promise<string> {
  const { url, drop } = await createMigratedDatabase()
  stops.push(drop)
  return url
}

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "sallyport-keys-"))
  stops.push(() => rm(made, { recursive: true }))
  return made
}

async function running(
  ports: Ports,
  more: Parameters<typeof start>[2],
  roles?: Parameters<typeof start>[3],
): ReturnType<typeof start> {
  const runtime = await start(await database(), ports, { env, ...more }, roles)
  stops.push(() => runtime.close())
  return runtime
}

async function ask(port: number, key: string | undefined, path = "/stores/acme/check", body?: object) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: path === "/stores" || path === "/healthz" ? "GET" : "POST",
    ...(key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } }),
    ...(path === "/stores" || path === "/healthz"
      ? {}
      : {
          body: JSON.stringify(
            body ?? { tuple_key: { user: "user:ann", relation: "viewer", object: "order:1" } },
          ),
        }),
  })
  const answer = (await response.json()) as { code?: string }
  return answer.code === undefined ? String(response.status) : `${response.status} ${answer.code}`
}

const write = { writes: { tuple_keys: [{ user: "user:ann", relation: "viewer", object: "order:1" }] } }

describePostgres("callers of the engine", () => {
  it("are told by keys and grants; `require`, operators and health are as before; no key is in the log", async () => {
    const ports = await freePorts()
    const runtime = await running(ports, {})
    const conf = planOfEngine(ports, "secret app = env(APP_KEY)", "auth key app { read acme; write acme }")
    await runtime.apply(conf, author)
    // Samples of `dev`: written with this process's own credential.
    const sample = { user: "user:bob", relation: "viewer", object: "order:2" }
    expect(await runtime.seed("acme", [sample])).toBe(1)
    expect(await ask(ports.authz, undefined)).toBe("401 bearer_token_missing")
    expect(await ask(ports.authz, "the-key-of-nobody")).toBe("401 unauthenticated")
    expect(await ask(ports.authz, env.APP_KEY, "/stores")).toBe("200")
    expect(await ask(ports.authz, env.APP_KEY, "/stores/other/check")).toBe("403 forbidden")
    expect(await ask(ports.authz, env.APP_KEY, "/stores/acme/write", write)).toBe("200")
    expect(await ask(ports.authz, env.APP_KEY)).toBe("200")
    expect(await ask(ports.authz, undefined, "/healthz")).toBe("200")
    // The gateway asks the engine in process, and operators through the control listener.
    expect(await call(ports, "/order/1", "ann")).toBe("seen")
    expect(await control(ports, "GET", "/authz/stores")).toMatchObject({
      status: 200,
      body: { stores: [{ name: "acme" }] },
    })
    expect(await control(ports, "POST", "/authz/stores/acme/check", { tuple_key: sample })).toMatchObject({
      status: 200,
      body: { allowed: true },
    })
    const told = JSON.stringify([runtime.lines, (await control(ports, "GET", "/v1/plan")).body])
    for (const secret of Object.values(env)) expect(told).not.toContain(secret)
  })

  it("may be others with the next plan, without a new listener", async () => {
    const ports = await freePorts()
    const runtime = await running(ports, {})
    await runtime.apply(planOfEngine(ports, "", ""), author)
    expect(await ask(ports.authz, undefined)).toBe("200")
    const asks = planOfEngine(ports, "secret app = env(APP_KEY)", "auth key app { read acme }")
    await runtime.apply(asks, author)
    expect(await ask(ports.authz, undefined)).toBe("401 bearer_token_missing")
    expect(await ask(ports.authz, env.APP_KEY)).toBe("200")
    expect(await ask(ports.authz, env.APP_KEY, "/stores/acme/write", write)).toBe("403 forbidden")
    await runtime.apply(planOfEngine(ports, "", "auth none"), author)
    expect(await ask(ports.authz, undefined, "/stores/acme/write", write)).toBe("200")
  })

  it("have their limits by the plan", async () => {
    const ports = await freePorts()
    const runtime = await running(ports, {})
    await runtime.apply(planOfEngine(ports, "", "limits { write-tuples 1; body 1KB }"), author)
    const keys = [1, 2].map((id) => ({ user: "user:ann", relation: "viewer", object: `order:${id}` }))
    const two = { writes: { tuple_keys: keys } }
    expect(await ask(ports.authz, undefined, "/stores/acme/write", two)).toBe("400 exceeded_entity_limit")
    const large = { ...two, padding: "x".repeat(2000) }
    expect(await ask(ports.authz, undefined, "/stores/acme/write", large)).toBe("413 resource_exhausted")
    await runtime.apply(planOfEngine(ports, "", "limits { write-tuples 2 }"), author)
    expect(await ask(ports.authz, undefined, "/stores/acme/write", large)).toBe("200")
  })

  it("may go as deep as the plan says", async () => {
    const ports = await freePorts()
    const runtime = await running(ports, {})
    const relations = "define parent: [order]\n    define viewer: [user] or viewer from parent"
    const plan = (statements: string) => planOfEngine(ports, "", statements, relations)
    await runtime.apply(plan(""), author)
    const chain = Array.from({ length: 40 }, (_, at) => ({
      user: `order:${at + 1}`,
      relation: "parent",
      object: `order:${at}`,
    }))
    const top = { user: "user:ann", relation: "viewer", object: "order:40" }
    const all = { writes: { tuple_keys: [...chain, top] } }
    expect(await ask(ports.authz, undefined, "/stores/acme/write", all)).toBe("200")
    const deep = { tuple_key: { user: "user:ann", relation: "viewer", object: "order:0" } }
    const check = () => ask(ports.authz, undefined, "/stores/acme/check", deep)
    expect(await check()).toBe("400 authorization_model_resolution_too_complex")
    await runtime.apply(plan("limits { depth 45 }"), author)
    expect(await check()).toBe("200")
    await runtime.apply(plan("limits { depth 10 }"), author)
    expect(await check()).toBe("400 authorization_model_resolution_too_complex")
    await runtime.apply(plan("limits { depth none }"), author)
    expect(await check()).toBe("200")
  })

  it("have as much memory for tuples as the plan says", async () => {
    const ports = await freePorts()
    const runtime = await running(ports, {})
    const relations = "define parent: [order]\n    define viewer: [user] or viewer from parent"
    const plan = (statements: string) =>
      planOfEngine(
        ports,
        "",
        `limits { write-tuples 10000; body 4MB; timeout 60s }; ${statements}`,
        relations,
      )
    await runtime.apply(plan("memory 1MB"), author)
    const parents = Array.from({ length: 5_000 }, (_, at) => ({
      user: `order:${at}${"x".repeat(200)}`,
      relation: "parent",
      object: "order:0",
    }))
    const all = { writes: { tuple_keys: parents } }
    expect(await ask(ports.authz, undefined, "/stores/acme/write", all)).toBe("200")
    const key = { tuple_key: { user: "user:ann", relation: "viewer", object: "order:0" } }
    const check = () => ask(ports.authz, undefined, "/stores/acme/check", key)
    expect(await check()).toBe("503 unavailable")
    await runtime.apply(plan("memory 64MB"), author)
    expect(await check()).toBe("200")
  })

  it("ask by AuthZEN's own paths, of the only store or the one that is named", async () => {
    const ports = await freePorts()
    const runtime = await running(ports, {})
    await runtime.apply(planOfEngine(ports, "", ""), author)
    const question = {
      subject: { type: "user", id: "ann" },
      action: { name: "viewer" },
      resource: { type: "order", id: "1" },
    }
    const evaluate = async () => {
      const response = await fetch(`http://127.0.0.1:${ports.authz}/access/v1/evaluation`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(question),
      })
      return response.status === 200 ? response.json() : response.status
    }
    expect(await evaluate()).toEqual({ decision: false })
    await runtime.apply(planOfEngine(ports, "", 'store other { model "acme.fga" }'), author)
    expect(await evaluate()).toBe(404)
    const named =
      'store other { model "acme.fga" }\n authzen { store other; url "https://pdp.${zone}.example" }'
    await runtime.apply(planOfEngine(ports, 'value zone = env(ZONE, "eu")', named), author)
    expect(await evaluate()).toEqual({ decision: false })
    const metadata = await fetch(`http://127.0.0.1:${ports.authz}/.well-known/authzen-configuration`)
    expect(await metadata.json()).toMatchObject({ policy_decision_point: "https://pdp.eu.example" })
  })

  it("ask by the listeners' own names, those the process was started with and the host of AuthZEN's URL", async () => {
    const ports = await freePorts()
    const runtime = await running(ports, { hosts: ["sallyport.internal"] })
    await runtime.apply(planOfEngine(ports, "", 'authzen { url "https://pdp.example" }'), author)
    const asked = async (port: number, host: string) =>
      (await sendRaw(port, `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).status
    for (const [host, engine, control] of [
      ["localhost", 200, 200],
      ["sallyport.internal", 200, 200],
      ["pdp.example", 200, 421],
      ["evil.example", 421, 421],
    ] as const)
      expect([host, await asked(ports.authz, host), await asked(ports.control, host)]).toEqual([
        host,
        engine,
        control,
      ])
    const refused = runtime.lines.filter((line) =>
      line.includes("refused a control request with an unknown host name"),
    )
    expect(refused).toHaveLength(2)
  })

  it("change their keys by changing a file; what cannot be used is left, and told", async () => {
    const ports = await freePorts()
    const cwd = await folder()
    await writeFile(join(cwd, "app.key"), "first-key\n")
    const runtime = await running(ports, { cwd })
    const conf = planOfEngine(
      ports,
      'secret app = file("app.key")\nsecret other = env(APP_KEY)',
      "auth key app { read acme }\n  auth key other { read acme }",
    )
    await runtime.apply(conf, author)
    expect(await ask(ports.authz, "first-key")).toBe("200")
    const settles = async (key: string, answer: string) =>
      await expect.poll(() => ask(ports.authz, key), { interval: 100 }).toBe(answer)
    await writeFile(join(cwd, "app.key"), "second-key-that-is-longer\n")
    await settles("second-key-that-is-longer", "200")
    expect(await ask(ports.authz, "first-key")).toBe("401 unauthenticated")
    await writeFile(join(cwd, "app.key"), env.APP_KEY)
    await expect.poll(() => runtime.lines.join("")).toContain("could not be loaded")
    expect(runtime.lines.join("")).toContain("the keys `app` and `other` of the engine are the same")
    expect(await ask(ports.authz, "second-key-that-is-longer")).toBe("200")
    expect(runtime.lines.join("")).not.toContain(env.APP_KEY)
  })

  it("with tokens of an issuer: audience, subject and signature count", async () => {
    const ports = await freePorts()
    const cwd = await folder()
    const { publicKey, privateKey } = await generateKeyPair("ES256")
    await writeFile(
      join(cwd, "jwks.json"),
      JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "1" }] }),
    )
    const runtime = await running(ports, { cwd })
    const issuer = 'issuer corp { keys file("jwks.json"); issuer "https://corp.example"; audience engine }'
    const auth = 'auth jwt corp { subject "orders" { read acme }; subject * { manage stores } }'
    await runtime.apply(planOfEngine(ports, issuer, auth), author)
    const token = (claims: Record<string, unknown>, audience = "engine") =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "ES256", kid: "1" })
        .setIssuer("https://corp.example")
        .setAudience(audience)
        .setExpirationTime("5m")
        .sign(privateKey)
    expect(await ask(ports.authz, await token({ sub: "orders" }))).toBe("200")
    expect(await ask(ports.authz, await token({ sub: "others" }))).toBe("403 forbidden")
    expect(await ask(ports.authz, await token({ sub: "others" }), "/stores")).toBe("200")
    expect(await ask(ports.authz, await token({ sub: "orders" }, "gateway"))).toBe(
      "401 auth_failed_invalid_audience",
    )
    const [head, body] = (await token({ sub: "orders" })).split(".")
    expect(await ask(ports.authz, `${head}.${body}.AAAA`)).toBe("401 auth_failed_invalid_bearer_token")
    expect(await ask(ports.authz, undefined)).toBe("401 bearer_token_missing")
  })

  it("are a matter of the engine's processes: a gateway alone needs neither their keys nor their issuers", async () => {
    const ports = await freePorts()
    const cwd = await folder()
    const runtime = await running(ports, { cwd }, ["gateway", "control"])
    const declared =
      'secret app = env(NOT_SET_HERE)\nissuer corp { keys file("nowhere.json"); issuer "https://corp.example"; audience engine }'
    const auth = "auth key app { read acme }\n  auth jwt corp { subject * { read acme } }"
    await runtime.apply(planOfEngine(ports, declared, auth), author)
    expect(await call(ports, "/hello")).toBe("hello")
  })

  it("a plan whose keys are missing, empty or equal is refused, and the previous plan stays in use", async () => {
    const ports = await freePorts()
    const runtime = await running(ports, { env: { ...env, EMPTY: "", SAME: env.APP_KEY } })
    const asks = planOfEngine(ports, "secret app = env(APP_KEY)", "auth key app { read acme }")
    await runtime.apply(asks, author)
    for (const [name, problem] of [
      ["NOT_SET", "the environment variable NOT_SET is not set; set it for this process"],
      ["EMPTY", "the secret `other` is empty; set it in environment variable EMPTY"],
      ["SAME", "the keys `app` and `other` of the engine are the same"],
    ]) {
      const two = planOfEngine(
        ports,
        `secret app = env(APP_KEY)\nsecret other = env(${name})`,
        "auth key app { read acme }\n  auth key other { read acme }",
      )
      expect(await runtime.apply(two, author)).toMatchObject({
        kind: "refused",
        problems: [{ message: problem, origin: expect.stringMatching(/^gateway\.conf:\d+$/) }],
      })
    }
    expect(await ask(ports.authz, env.APP_KEY)).toBe("200")
    expect(await ask(ports.authz, undefined)).toBe("401 bearer_token_missing")
  })
})
