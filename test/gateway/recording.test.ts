import { describe, expect, test } from "vitest"
import { networkOf } from "../../runtime/gateway/exchange/recorded-exchange.ts"
import { LoadError } from "../../runtime/gateway/generation/load-error.ts"
import {
  bearer,
  environment,
  planOfText,
  projectText,
  startForTest,
  tokenOf,
} from "../record/recorded-gateway.ts"

describe("a recorded request", () => {
  test("has what a replay needs: claims by list, answers, the backend's response and the outcome", async () => {
    const world = await startForTest({ rules: 'claims "scope" "sub"' })
    const claims = { sub: "ann", scope: "read", email: "ann@example.com" }
    expect(await world.ask("/shop/orders/1?page=2", { ...bearer(claims), accept: "text/x" })).toBe(200)
    expect(await world.ask("/shop/orders/2", bearer(claims))).toBe(403)
    const [served, refused] = await world.recorded()
    expect(served).toMatchObject({
      ...{ method: "GET", target: "/shop/orders/1?page=2", host: `127.0.0.1:${world.project.port}` },
      ...{ plan: world.plan.digest, bodyBytes: 0, ip: "127.0.0.0", wholeIp: false },
      claims: { iss: "https://own.example", aud: "api", scope: "read", sub: "ann" },
      claimsLeft: ["email"],
      answers: [[expect.any(String), true]],
      responses: [{ backend: "orders", status: 200 }],
      outcome: { route: "GET /shop/orders/{id}", status: 200, problem: null, reason: null, by: null },
    })
    expect(served?.headers).toContainEqual(["accept", "text/x"])
    expect(served?.left).toContain("header:authorization")
    expect(refused?.outcome).toMatchObject({
      status: 403,
      problem: "forbidden",
      by: ["require", "gateway.conf:17"],
    })
    expect(refused?.answers[0]?.[1]).toBe(false)
    expect(refused?.answers[0]?.[0]).not.toBe(served?.answers[0]?.[0])
    expect(refused?.caller).toBe(served?.caller)
    expect(JSON.stringify([served, refused])).not.toMatch(/example\.com|eyJ[\w-]*\./)
  })

  test("has a pseudonym instead of a subject that is not listed, the same in every request", async () => {
    const world = await startForTest()
    for (const sub of ["ann", "bob", "ann"])
      await world.ask("/shop/orders/1", bearer({ sub: `the-user-${sub}` }))
    const [first, second, third] = await world.recorded()
    expect(first?.claims?.["sub"]).toBe(third?.claims?.["sub"])
    expect(first?.claims?.["sub"]).not.toBe(second?.claims?.["sub"])
    expect(first?.caller).not.toBe(second?.caller)
    expect(JSON.stringify([first, second])).not.toContain("the-user")
  })

  test("has no credential, wherever the caller put it", async () => {
    const world = await startForTest({ rules: 'headers "x-tenant" "x-note" "x-api-key"' })
    const canary = "c4n4ry-c4n4ry"
    const key = environment.PARTNER_KEY
    await world.ask(`/shop/partner?partner-key=${key}&page=1`)
    await world.ask("/shop/partner", { "x-partner-key": key, "x-note": `sent with ${key}` })
    await world.ask(
      `/shop/open?access_token=${canary}&sig=${canary}&X-Amz-Signature=${canary}&apiKey=${canary}&q=1`,
    )
    await world.ask("/shop/open", {
      ...{
        authorization: `Basic ${Buffer.from(`ann:${canary}`).toString("base64")}`,
        cookie: `sid=${canary}`,
      },
      ...{ "proxy-authorization": `Bearer ${canary}`, "x-api-key": canary, "x-custom": canary },
      ...{ referer: `https://ann:${canary}@pages.example/a?code=${canary}`, "x-tenant": "t1" },
      "x-note": `Bearer ${canary}`,
    })
    await world.ask("/shop/orders/1", { authorization: `Bearer ${tokenOf({ sub: canary })}x` })
    await world.ask(`/other?partner-key=${key}`)
    const all = await world.recorded()
    expect(all).toHaveLength(6)
    const text = JSON.stringify(all)
    expect(text).not.toContain(canary)
    expect(text).not.toContain(key)
    expect(text).not.toContain(Buffer.from(canary).toString("base64").slice(4, 12))
    expect(all[0]).toMatchObject({
      ...{ target: "/shop/partner?page=1", subscription: { name: "partner", product: null } },
      left: expect.arrayContaining(["query:partner-key"]),
    })
    expect(all[1]?.headers).toContainEqual(["x-note", "sent with left-out"])
    expect(all[2]?.target).toBe("/shop/open?q=1")
    expect(all[3]?.headers).toContainEqual(["referer", "https://pages.example/a"])
    expect(all[3]?.headers).toContainEqual(["x-tenant", "t1"])
    expect(all[3]?.left).toEqual(
      expect.arrayContaining(["header:x-custom", "header:cookie", "header:x-note", "header:x-api-key"]),
    )
    expect(all[5]?.outcome).toMatchObject({ route: null, status: 404 })
  })

  test("has headers that the plan reads, and none that it redacts", async () => {
    const world = await startForTest({
      rules: 'redact header "User-Agent"; redact query "name"; addresses whole',
      api: `auth none; backend orders; GET "/" { inbound { when (request.header("x-kind") == "a") { respond 204 } } }`,
    })
    await world.ask("/shop/?name=ann&page=1", { "x-kind": "a", "x-other": "b" })
    const [first] = await world.recorded()
    expect(first).toMatchObject({ ip: "127.0.0.1", wholeIp: true, target: "/shop/?page=1" })
    expect(first?.headers.map(([name]) => name)).toContain("x-kind")
    expect(first?.headers.map(([name]) => name)).not.toContain("user-agent")
    expect(first?.left).toEqual(expect.arrayContaining(["query:name", "header:user-agent", "header:x-other"]))
  })

  test("has no credentials that a backend responds with or repeats", async () => {
    const canary = "c4n4ry-c4n4ry"
    const world = await startForTest({}, (request, response) => {
      request.resume()
      response.setHeader("set-cookie", `session=${canary}`)
      response.setHeader("location", `/next?token=${canary}`)
      response.setHeader("etag", `"${request.headers["x-sent"] ?? ""}"`)
      response.setHeader("server", String(request.headers.cookie ?? ""))
      response.writeHead(200).end(canary)
    })
    await world.ask("/shop/open", { cookie: `sid=${canary}` })
    const all = await world.recorded()
    expect(all[0]?.responses[0]?.headers).toContainEqual(["location", "/next"])
    expect(all[0]?.left).toContain("response:set-cookie")
    expect(JSON.stringify(all)).not.toContain(canary)
  })
})

test("the share of recorded requests is that of `sample`, by the ids of requests", async () => {
  const world = await startForTest({ rules: "", gateway: "" })
  const half = planOfText(projectText({ ...world.project }).replace("sample 100%", "sample 50%"))
  await world.gateway.apply(half)
  await Promise.all(Array.from({ length: 400 }, () => world.ask("/shop/open")))
  const all = await world.recorded()
  expect(all.length).toBeGreaterThan(130)
  expect(all.length).toBeLessThan(270)
  const page = world.metrics.read()
  expect(JSON.stringify(page)).toContain("sallyport_recorded_requests_total")
})

test("a secret that is too short for a key refuses the plan", async () => {
  const world = await startForTest()
  const plan = planOfText(
    `${projectText(world.project).replace("encrypt-with traffic_key", "encrypt-with short_key")}
     secret short_key = env(SHORT)`,
  )
  const refused = await world.gateway.apply(plan).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(LoadError)
})

test.each([
  ["203.0.113.77", "203.0.113.0"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1::"],
  ["2001:db8::1", "2001:db8:0::"],
  ["::1", "0:0:0::"],
])("the network of %s is %s", (ip, network) => {
  expect(networkOf(ip)).toBe(network)
})
