import { scryptSync } from "node:crypto"
import { afterEach, describe, expect, test } from "vitest"
import type { StepOf } from "../../runtime/plan/steps.ts"
import { until } from "../support/until.ts"
import { type Answering, startUpstream } from "./harness.ts"
import { cel, closeAll, closers, header, start } from "./one-route.ts"
import type { StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

describe("introspection", () => {
  const step = (more: Partial<StepOf<"introspect">> = {}): StepDraft => ({
    kind: "introspect",
    introspection: "acme",
    from: { header: "authorization", scheme: "Bearer" },
    claims: [],
    status: 401,
    claimStatus: 403,
    ...more,
  })

  async function inFrontOf(answer: Answering, more: Partial<StepOf<"introspect">> = {}, cacheSeconds = 30) {
    const endpoint = await startUpstream(answer)
    closers.push(() => endpoint.close())
    const world = await start(
      { inbound: [step(more), header("x-sub", cel("jwt.sub"))] },
      {
        secrets: { s: { env: "S" } },
        introspections: { acme: { url: `${endpoint.url}/i`, client: "gw", secret: "s", cacheSeconds } },
      },
      { environment: { S: "geheim" } },
    )
    const ask = (token = "opaque") => world.get("/a/7", `Authorization: Bearer ${token}\r\n`)
    return { ...world, endpoint, ask }
  }
  const says =
    (json: unknown, status = 200): Answering =>
    (request, response) => {
      request.resume()
      response.writeHead(status).end(JSON.stringify(json))
    }

  test("active: its claims are the caller's; asked once", async () => {
    const { ask, endpoint, upstream } = await inFrontOf(says({ active: true, sub: "ann" }))
    const all = await Promise.all([ask(), ask()])
    expect([...all, await ask()].map(({ status }) => status)).toEqual([200, 200, 200])
    expect(upstream.requests[0]?.headers["x-sub"]).toBe("ann")
    expect(endpoint.requests).toHaveLength(1)
    expect(endpoint.requests[0]?.body).toBe("token=opaque&token_type_hint=access_token")
    expect(endpoint.requests[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from("gw:geheim").toString("base64")}`,
    )
  })

  test("not kept where nothing is to be kept", async () => {
    const { ask, endpoint } = await inFrontOf(says({ active: true, sub: "ann" }), {}, 0)
    await ask()
    await ask()
    expect(endpoint.requests).toHaveLength(2)
  })

  const refused: readonly [string, Answering, number, Partial<StepOf<"introspect">>?][] = [
    ["not active", says({ active: false }), 401],
    ["over, whatever the endpoint says", says({ active: true, exp: 1 }), 401],
    ["for another audience", says({ active: true, aud: "x" }), 401, { audiences: ["orders"] }],
    [
      "without the claim",
      says({ active: true, scope: "a" }),
      403,
      { claims: [{ claim: "scope", test: "has-all", values: ["b"] }] },
    ],
    ["an endpoint that fails", says({}, 500), 503],
    ["an endpoint that does not know us", says({ error: "invalid_client" }, 401), 503],
    ["an answer that does not tell", says({ active: "true" }), 503],
    ["no answer", (request) => request.socket.destroy(), 503],
  ]
  test.each(refused)("%s", async (_, answer, status, more) => {
    const { ask, upstream, running } = await inFrontOf(answer, more)
    expect((await ask("my-token")).status).toBe(status)
    expect(upstream.requests).toHaveLength(0)
    await until(() => running.log.length === 1)
    expect(JSON.stringify(running.log[0]?.cause)).not.toContain("my-token")
  })

  test("no token: 401 with a challenge, nobody is asked", async () => {
    const { get, endpoint } = await inFrontOf(says({ active: true }))
    const answer = await get()
    expect([answer.status, answer.head.toLowerCase().includes("www-authenticate: bearer")]).toEqual([
      401,
      true,
    ])
    expect(endpoint.requests).toHaveLength(0)
  })
})

describe("users and passwords", () => {
  const salt = Buffer.from("a salt of sixteen")
  const hashed = scryptSync("pass:wörd", salt, 32, { N: 1024, r: 8, p: 1 }).toString("base64url")
  const environment = { PLAIN: "gehéim", HASH: `scrypt:1024:8:1:${salt.toString("base64url")}:${hashed}` }
  const step = (forward = false): StepDraft => ({
    kind: "basic-auth",
    users: "partners",
    realm: "Partners",
    status: 401,
    forward,
  })
  const draft = {
    secrets: { plain: { env: "PLAIN" }, hash: { env: "HASH" } },
    users: {
      partners: {
        users: [
          { user: "ann", secret: "plain" },
          { user: "bob", secret: "hash" },
        ],
      },
    },
  }
  const basic = (text: string) => `Authorization: Basic ${Buffer.from(text).toString("base64")}\r\n`

  test("plain and hashed passwords; the password goes no further", async () => {
    const { get, upstream } = await start({ inbound: [step(), header("x-sub", cel("jwt.sub"))] }, draft, {
      environment,
    })
    expect((await get("/a/7", basic("ann:gehéim"))).status).toBe(200)
    expect((await get("/a/7", basic("bob:pass:wörd"))).status).toBe(200)
    expect((await get("/a/7", basic("bob:pass:wörd"))).status).toBe(200)
    expect(upstream.requests.map(({ headers }) => [headers["x-sub"], headers.authorization])).toEqual([
      ["ann", undefined],
      ["bob", undefined],
      ["bob", undefined],
    ])
  })

  const wrong: readonly [string, string, number][] = [
    ["no credentials", "", 401],
    ["another scheme", "Authorization: Bearer x\r\n", 401],
    ["a wrong password", basic("ann:x"), 401],
    ["a wrong password of a hash", basic("bob:x"), 401],
    ["the hash itself", basic(`bob:${environment.HASH}`), 401],
    ["nobody", basic("eve:gehéim"), 401],
    ["an empty password", basic("ann:"), 401],
    ["no colon", basic("ann"), 401],
    ["no Base64", "Authorization: Basic a*b\r\n", 401],
    ["no UTF-8", "Authorization: Basic YW5uOv//\r\n", 401],
    ["two lines", basic("ann:gehéim") + basic("ann:gehéim"), 400],
  ]
  test.each(wrong)("%s", async (_, line, status) => {
    const { get, upstream } = await start({ inbound: [step()] }, draft, { environment })
    const answer = await get("/a/7", line)
    expect([answer.status, upstream.requests.length]).toEqual([status, 0])
    if (status === 401)
      expect(answer.head).toMatch(/www-authenticate: Basic realm="Partners", charset="UTF-8"/i)
  })

  test("forwarded where it is said", async () => {
    const { get, upstream } = await start({ inbound: [step(true)] }, draft, { environment })
    await get("/a/7", basic("ann:gehéim"))
    expect(upstream.requests[0]?.headers.authorization).toMatch(/^Basic /)
  })

  const hashes: readonly [string, RegExp][] = [
    ["scrypt:1024:8:1:short", /does not have the form/],
    [`scrypt:1000:8:1:${"a".repeat(22)}:${"a".repeat(43)}`, /power of two/],
    [`scrypt:1048576:8:1:${"a".repeat(22)}:${"a".repeat(43)}`, /64 MB/],
  ]
  test.each(hashes)("a hash that cannot be used is refused with the plan: %s", async (hash, reason) => {
    const started = start({ inbound: [step()] }, draft, { environment: { ...environment, HASH: hash } })
    await expect(started).rejects.toThrow(reason)
  })
})
