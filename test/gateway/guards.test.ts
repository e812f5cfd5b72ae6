import { afterEach, describe, expect, test } from "vitest"
import { Engine } from "../../runtime/check/engine.ts"
import { CheckError, type CheckRequest } from "../../runtime/check/ports.ts"
import type { GatewayOptions } from "../../runtime/gateway/gateway.ts"
import { MemorySource } from "../check/memory-source.ts"
import { modelOf, tupleOf } from "../check/model.ts"
import { until } from "../support/until.ts"
import { authorizerOf } from "./authorizer.ts"
import {
  cel,
  closeAll,
  header,
  issuers,
  jwt,
  key,
  keyDraft,
  parts,
  start,
  tokenOf,
  verifier,
} from "./one-route.ts"
import type { StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

describe("validate-jwt", () => {
  const rows: [string, string, number, string | undefined][] = [
    ["no token", "", 401, "Bearer"],
    ["a good token", tokenOf({ sub: "ann", scope: "write read" }), 200, undefined],
    [
      "a token without the scope",
      tokenOf({ sub: "ann", scope: "readable" }),
      403,
      'Bearer error="insufficient_scope", scope="read"',
    ],
    [
      "rubbish",
      "Authorization: Bearer x\r\n",
      401,
      `Bearer error="invalid_token", error_description="the token is 'not' one"`,
    ],
    ["another scheme", "Authorization: Basic eDp5\r\n", 401, "Bearer"],
    ["a lower-case scheme", tokenOf({ scope: "read" }).replace("Bearer", "bearer"), 200, undefined],
    [
      "two blanks",
      "Authorization: Bearer  x\r\n",
      401,
      `Bearer error="invalid_token", error_description="the header does not have the form 'Bearer TOKEN'"`,
    ],
    [
      "a tab",
      "Authorization: Bearer\tx\r\n",
      401,
      `Bearer error="invalid_token", error_description="the header does not have the form 'Bearer TOKEN'"`,
    ],
  ]
  test.each(rows)("%s", async (_name, headers, status, challenge) => {
    const { get, upstream } = await start({ inbound: [jwt] }, { issuers }, verifier)
    const answer = await get("/a/7", headers)
    expect(answer.status).toBe(status)
    if (challenge !== undefined)
      expect(answer.headers.get("www-authenticate")?.replaceAll("`", "'")).toBe(challenge)
    expect(upstream.requests.length).toBe(status === 200 ? 1 : 0)
  })

  const bare = tokenOf({ scope: "read" }).replace("Authorization: Bearer ", "X-Token: ")
  test.each<[string, string, number]>([
    ["alone", bare, 200],
    ["behind `Bearer`", bare.replace(": ", ": Bearer "), 200],
    ["in Authorization", tokenOf({ scope: "read" }), 401],
    ["with something behind it", bare.replace("\r\n", " x\r\n"), 401],
    ["behind another scheme", bare.replace(": ", ": Basic "), 401],
    ["empty", "X-Token:\r\n", 401],
    ["twice", bare + bare, 400],
  ])("a token in a header of its own, %s", async (_name, headers, status) => {
    const { get, upstream } = await start(
      { inbound: [{ ...jwt, from: { header: "x-token", scheme: null } } as StepDraft] },
      { issuers },
      verifier,
    )
    expect((await get("/a/7", headers)).status).toBe(status)
    expect(upstream.requests.length).toBe(status === 200 ? 1 : 0)
  })

  test("keys that are not to be had: 503 with Retry-After", async () => {
    const { get } = await start({ inbound: [jwt] }, { issuers }, verifier)
    const answer = await get("/a/7", "Authorization: Bearer away\r\n")
    expect(answer.status).toBe(503)
    expect(answer.headers.get("retry-after")).toBe("7")
  })
})

describe("any-of", () => {
  const both: StepDraft = { kind: "any-of", steps: [jwt, key] }
  const rows: [string, string, string, number][] = [
    ["neither", "/a/7", "", 401],
    ["the token", "/a/7", tokenOf({ scope: "read" }), 200],
    ["the key", "/a/7", "X-Key: right\r\n", 200],
    ["the key in the query", "/a/7?key=right", "", 200],
    ["a bad token and a good key", "/a/7", `${tokenOf({ scope: "none" })}X-Key: right\r\n`, 200],
    ["a bad token", "/a/7", tokenOf({ scope: "none" }), 403],
    ["a bad key", "/a/7", "X-Key: wrong\r\n", 401],
    ["a key of another product", "/a/7", "X-Key: elsewhere\r\n", 401],
    ["keys away and a good key", "/a/7", "Authorization: Bearer away\r\nX-Key: right\r\n", 200],
    ["keys away", "/a/7", "Authorization: Bearer away\r\n", 503],
    [
      "a good token beside a key that is not looked at",
      "/a/7?key=x&b=1",
      `${tokenOf({ scope: "read" })}X-Key: x\r\n`,
      200,
    ],
  ]
  test.each(rows)("%s", async (_name, path, headers, status) => {
    const { get, upstream } = await start({ inbound: [both] }, keyDraft, verifier)
    expect((await get(path, headers)).status).toBe(status)
    for (const seen of upstream.requests) {
      expect(seen.headers["x-key"]).toBeUndefined()
      expect(seen.url).not.toContain("key=")
    }
  })
})

describe("any-of with an open product: a call without a key is one of it, where nothing else says who calls", () => {
  const draft = {
    ...keyDraft,
    products: { ...keyDraft.products, all: { apis: ["main"], open: true as const } },
  }
  const told: StepDraft[] = [
    header("x-sub", cel("has(jwt.sub) ? jwt.sub : ''")),
    header("x-product", cel("has(subscription.product) ? subscription.product : ''")),
  ]
  const rows: [string, string, number, string, string][] = [
    ["nothing", "", 200, "", "all"],
    ["the token", tokenOf({ sub: "ann", scope: "read" }), 200, "ann", ""],
    ["a bad token", "Authorization: Bearer x\r\n", 401, "", ""],
    ["a token without the scope", tokenOf({ sub: "ann" }), 403, "", ""],
    ["keys away", "Authorization: Bearer away\r\n", 503, "", ""],
    ["the key", "X-Key: right\r\n", 200, "", "all"],
    ["a bad key", "X-Key: wrong\r\n", 401, "", ""],
    [
      "a bad key and a good token",
      `${tokenOf({ sub: "ann", scope: "read" })}X-Key: wrong\r\n`,
      200,
      "ann",
      "",
    ],
    ["a good key and a bad token", "Authorization: Bearer x\r\nX-Key: right\r\n", 200, "", "all"],
  ]
  test.each(rows.flatMap((row) => [[...row, [key, jwt]] as const, [...row, [jwt, key]] as const]))(
    "%s",
    async (_name, headers, status, sub, product, steps) => {
      const inbound = [{ kind: "any-of", steps: [...steps] } as StepDraft, ...told]
      const { get, upstream } = await start({ inbound }, draft, verifier)
      expect((await get("/a/7", headers)).status).toBe(status)
      const seen = upstream.requests.map((each) => [
        each.headers["x-sub"] ?? "",
        each.headers["x-product"] ?? "",
      ])
      expect(seen).toEqual(status === 200 ? [[sub, product]] : [])
    },
  )
})

test("rate-limit: N calls pass, the next is 429 with what is left; keys are apart; callers without any key share one", async () => {
  const limit: StepDraft = {
    kind: "rate-limit",
    counter: "c",
    callsMax: 2,
    periodSeconds: 60,
    keys: [{ by: "claim", claim: "sub" }, { by: "ip" }],
  }
  const { get } = await start({ inbound: [{ kind: "any-of", steps: [jwt, key] }, limit] }, keyDraft, verifier)
  const ann = tokenOf({ sub: "ann", scope: "read" })
  for (const remaining of [1, 0]) {
    const passed = await get("/a/7", ann)
    expect(passed.status).toBe(200)
    expect(passed.headers.get("ratelimit")).toMatch(new RegExp(`^"2-in-60s";r=${remaining};t=\\d+$`))
  }
  const refused = await get("/a/7", ann)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1)
  expect(refused.headers.get("ratelimit-policy")).toBe('"2-in-60s";q=2;w=60')
  expect((await get("/a/7", tokenOf({ sub: "bob", scope: "read" }))).status).toBe(200)
  for (const status of [200, 200, 429]) expect((await get("/a/7", "X-Key: right\r\n")).status).toBe(status)
})

describe("require", () => {
  const require_: StepDraft = {
    kind: "require",
    store: "acme",
    relation: "viewer",
    object: { text: ["order:", ...parts(cel("path.id"))] },
    user: { text: ["user:", ...parts(cel("jwt.sub"))] },
  }
  const asked: CheckRequest[] = []
  const options: Partial<GatewayOptions> = {
    ...verifier,
    authorizerOf: () =>
      authorizerOf((_store, request) => {
        asked.push(request)
        if (request.object === "order:away")
          throw new CheckError("unavailable", "the database at 10.0.0.1 is away")
        if (request.object === "order:odd") return Promise.reject(new CheckError("validation_error", "odd"))
        if (request.object === "order:bug") return Promise.reject(new TypeError("boom"))
        const answer = { allowed: request.user === "user:ann" && request.object === "order:1", revision: 42 }
        return request.object === "order:1" ? Promise.resolve(answer) : answer
      }),
  }
  const rows: [string, string, number, number][] = [
    ["/a/1", "ann", 200, 1],
    ["/a/1", "bob", 403, 1],
    ["/a/2", "ann", 403, 1],
    ["/a/away", "ann", 503, 1],
    ["/a/odd", "ann", 400, 1],
    ["/a/bug", "ann", 503, 1],
    ["/a/a:b", "ann", 400, 0],
    ["/a/*", "ann", 400, 0],
    ["/a/a%23b", "ann", 400, 0],
    ["/a/a%20b", "ann", 400, 0],
    ["/a/1", "ann#viewer", 400, 0],
    ["/a/1", "*", 400, 0],
    ["/a/1", "a b", 400, 0],
    ["/a/1", "a\u00a0b", 400, 0],
    ["/a/1", "a\u2028b", 400, 0],
    ["/a/1", "team:x", 400, 0],
    ["/a/1", "", 400, 0],
  ]
  test.each(rows)("%s as %j → %i", async (path, sub, status, questions) => {
    asked.length = 0
    const { get, running, upstream } = await start(
      { inbound: [jwt, require_] },
      { issuers, stores: ["acme"] },
      options,
    )
    const answer = await get(path, tokenOf({ sub, scope: "read" }))
    expect(answer.status).toBe(status)
    expect(asked.length).toBe(questions)
    expect(upstream.requests.length).toBe(status === 200 ? 1 : 0)
    expect(answer.body).not.toMatch(/10\.0\.0\.1|boom/)
    await until(() => running.log.length === 1)
    if (status === 403)
      expect(running.log[0]?.decision).toEqual({
        store: "acme",
        user: `user:${sub}`,
        relation: "viewer",
        object: `order:${path.slice(3)}`,
        allowed: false,
        revision: 42,
      })
    expect(running.log[0]?.id).toBe(answer.headers.get("x-request-id"))
  })

  test("what hangs on a value that nobody gives is not a yes: the caller is told nothing of it, the log which value it is", async () => {
    const source = new MemorySource()
    source.write(tupleOf("order:1 viewer user:ann if office"))
    const model = modelOf(`
type user
type order
  relations
    define viewer: [user with office]
condition office(hour: int, door: bool) { hour < 18 && door }
`)
    const engine = new Engine(source, { pollMs: 0 })
    const { get, running, upstream } = await start(
      { inbound: [jwt, require_] },
      { issuers, stores: ["acme"] },
      {
        ...verifier,
        authorizerOf: () => authorizerOf((store, request) => engine.check(store, model, request)),
      },
    )
    const answer = await get("/a/1", tokenOf({ sub: "ann", scope: "read" }))
    engine.close()
    expect([answer.status, upstream.requests.length]).toEqual([403, 0])
    expect(answer.body).not.toMatch(/office|hour|order:1/)
    await until(() => running.log.length === 1)
    expect(running.log[0]).toMatchObject({
      cause:
        "authorization engine: failed to evaluate relationship condition: 'office' - tuple 'order:1#viewer@user:ann' is missing context parameters '[door hour]'; conditions get only the values stored with their tuples and those of `context` in `require`",
      decision: { user: "user:ann", relation: "viewer", object: "order:1", allowed: false },
    })
  })

  test.each<[string, unknown]>([
    ["without `sub`", undefined],
    ["with a list for `sub`", ["ann"]],
    ["with null for `sub`", null],
  ])("a good token %s is nobody's: 403, nothing asked, and the reason in the log", async (_name, sub) => {
    asked.length = 0
    const { get, running, upstream } = await start(
      { inbound: [jwt, require_] },
      { issuers, stores: ["acme"] },
      options,
    )
    const answer = await get("/a/1", tokenOf({ ...(sub === undefined ? {} : { sub }), scope: "read" }))
    expect(answer.status).toBe(403)
    expect([asked.length, upstream.requests.length]).toEqual([0, 0])
    await until(() => running.log.length === 1)
    expect(running.log[0]?.cause).toContain("the user of the check is unknown")
  })
})
