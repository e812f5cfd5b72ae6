import { SignJWT } from "jose"
import { afterEach, describe, expect, it } from "vitest"
import { withoutCookie } from "../../runtime/http/cookies.ts"
import { HeaderList } from "../../runtime/policies/messages/header-list.ts"
import { until } from "../support/until.ts"
import { type RawAnswer, sendRaw, startUpstream } from "./harness.ts"
import { cel, closeAll, issuers, jwt, key, keyDraft, start, verifier } from "./one-route.ts"
import type { StepDraft } from "./plan-builder.ts"

afterEach(closeAll)

const rawToken = (claims: object) => Buffer.from(JSON.stringify(claims)).toString("base64url")
const good = rawToken({ sub: "ann", scope: "read", tenant: "acme" })

function token(more: Partial<Extract<StepDraft, { kind: "validate-jwt" }>>): StepDraft {
  return { ...(jwt as Extract<StepDraft, { kind: "validate-jwt" }>), ...more }
}

describe("where a token comes from", () => {
  it("the query: it is not forwarded unless it says so", async () => {
    for (const forward of [false, true]) {
      const { get, upstream } = await start(
        { inbound: [token({ from: { query: "t", forward } })] },
        { issuers },
        verifier,
      )
      expect((await get(`/a/7?x=1&t=${good}`)).status).toBe(200)
      expect(upstream.requests[0]?.url).toBe(forward ? `/a/7?x=1&t=${good}` : "/a/7?x=1")
      expect((await get("/a/7")).status).toBe(401)
      expect((await get(`/a/7?t=${good}&t=${good}`)).status).toBe(400)
    }
  })

  it("a cookie: the others stay", async () => {
    const { get, upstream } = await start(
      { inbound: [token({ from: { cookie: "session", forward: false } })] },
      { issuers },
      verifier,
    )
    expect((await get("/a/7", `Cookie: a=1; session=${good}; b=2\r\n`)).status).toBe(200)
    expect(upstream.requests[0]?.headers.cookie).toBe("a=1; b=2")
    expect((await get("/a/7", `Cookie: session=${good}; session=x\r\n`)).status).toBe(400)
    expect((await get("/a/7", "Cookie: mysession=x\r\n")).status).toBe(401)
    expect((await get("/a/7", `Cookie: session="${good}"\r\n`)).status).toBe(200)
    expect(upstream.requests[1]?.headers.cookie).toBeUndefined()
  })

  it("an expression, and a header with another scheme", async () => {
    const { get } = await start(
      { inbound: [token({ from: { text: cel('request.header("X-A")') } })] },
      { issuers },
      verifier,
    )
    expect((await get("/a/7", `X-A: ${good}\r\n`)).status).toBe(200)
    expect((await get("/a/7")).status).toBe(401)
    const other = await start(
      { inbound: [token({ from: { header: "x-token", scheme: "Token" } })] },
      { issuers },
      verifier,
    )
    expect((await other.get("/a/7", `X-Token: token ${good}\r\n`)).status).toBe(200)
    expect((await other.get("/a/7", `X-Token: ${good}\r\n`)).status).toBe(401)
    expect((await other.get("/a/7", `X-Token: Token a b\r\n`)).head).toContain("invalid_token")
  })

  it("what was read is dropped whichever way lets in", async () => {
    const query = token({ from: { query: "t", forward: false } })
    const { get, upstream } = await start(
      { inbound: [{ kind: "any-of", steps: [key, query] }] },
      keyDraft,
      verifier,
    )
    expect((await get(`/a/7?t=${good}`, "X-Key: right\r\n")).status).toBe(200)
    expect(upstream.requests[0]?.url).toBe("/a/7")
  })

  it("cookies are cut by name", () => {
    expect(withoutCookie("a=1; b=2; a=3", "a")).toBe("b=2")
    expect(withoutCookie("a=1", "a")).toBeUndefined()
    expect(new HeaderList(["cookie", "a=1"]).get("cookie")).toBe("a=1")
  })
})

describe("what a token must say here", () => {
  it("claims as texts of the request, a status and a message of one's own", async () => {
    const { get } = await start(
      {
        inbound: [
          token({
            claims: [{ claim: "tenant", test: "equals-any", values: [cel('request.header("X-Tenant")')] }],
            claimStatus: 404,
            message: "a token of this tenant, please",
            output: "t",
          }),
        ],
      },
      { issuers },
      verifier,
    )
    expect((await get("/a/7", `X-Tenant: acme\r\nAuthorization: Bearer ${good}\r\n`)).status).toBe(200)
    const refused = await get("/a/7", `X-Tenant: globex\r\nAuthorization: Bearer ${good}\r\n`)
    expect(refused.status).toBe(404)
    expect(refused.body).toContain("a token of this tenant, please")
    expect((await get("/a/7")).body).toContain("a token of this tenant, please")
  })
})

describe("check-header", () => {
  const step = (more: object = {}): StepDraft => ({
    kind: "check-header",
    name: "x-a",
    values: ["One", cel("path.id")],
    ignoreCase: false,
    status: 404,
    ...more,
  })
  it.each<[string, string, number]>([
    ["one of the values", "X-A: One\r\n", 200],
    ["a value of the request", "X-A: 7\r\n", 200],
    ["another case", "X-A: one\r\n", 404],
    ["another value", "X-A: Two\r\n", 404],
    ["none", "", 404],
    ["twice", "X-A: One\r\nX-A: One\r\n", 404],
  ])("%s", async (_, headers, status) => {
    const { get } = await start({ inbound: [step()] })
    expect((await get("/a/7", headers)).status).toBe(status)
  })

  it("without case, presence alone, a message", async () => {
    const folded = await start({ inbound: [step({ ignoreCase: true })] })
    expect((await folded.get("/a/7", "X-A: one\r\n")).status).toBe(200)
    const present = await start({ inbound: [step({ values: [], status: 401, message: "bring it" })] })
    expect((await present.get("/a/7", "X-A: whatever\r\n")).status).toBe(200)
    const missing = await present.get()
    expect([missing.status, missing.body.includes("bring it")]).toEqual([401, true])
  })
})

describe("ip-filter", () => {
  const filter = (action: "allow" | "deny"): StepDraft => ({
    kind: "ip-filter",
    action,
    networks: ["10.0.0.0/8", "2001:db8::/32"],
    ranges: [{ from: "192.0.2.10", to: "192.0.2.20" }],
  })
  it.each<[string, boolean]>([
    ["10.255.0.1", true],
    ["11.0.0.1", false],
    ["192.0.2.10", true],
    ["192.0.2.21", false],
    ["2001:db8::1", true],
    ["2001:db9::1", false],
    ["::ffff:10.0.0.1", true],
  ])("%s is inside: %s", async (ip, inside) => {
    for (const action of ["allow", "deny"] as const) {
      const { get } = await start({ inbound: [filter(action)] }, { trust: ["127.0.0.1/32"] })
      const { status } = await get("/a/7", `X-Forwarded-For: ${ip}\r\n`)
      expect(status).toBe(inside === (action === "allow") ? 200 : 403)
    }
  })
})

describe("limits that count what they are told", () => {
  const limit = (more: object): StepDraft => ({
    kind: "rate-limit",
    counter: "c",
    callsMax: 2,
    periodSeconds: 60,
    keys: [{ by: "text", text: cel('request.header("X-K")') }],
    ...more,
  })
  const statuses = async (
    get: (path?: string, headers?: string) => Promise<RawAnswer>,
    headers: string[],
  ) => {
    const found: number[] = []
    for (const each of headers) found.push((await get("/a/7", each)).status)
    return found
  }

  it("by a text; callers without one share a count", async () => {
    const { get } = await start({ inbound: [limit({})] })
    const [a, b] = ["X-K: a\r\n", "X-K: b\r\n"]
    expect(await statuses(get, [a, a, a, b, "", "", ""])).toEqual([200, 200, 429, 200, 200, 200, 429])
  })

  it("counts more than one, and tells by names of its own", async () => {
    const { get } = await start({
      inbound: [
        limit({
          callsMax: 5,
          increment: 2,
          remainingHeader: "x-left",
          totalHeader: "x-all",
          retryAfterHeader: "x-wait",
        }),
      ],
    })
    const first = await get()
    expect([first.headers.get("x-left"), first.headers.get("x-all")]).toEqual(["3", "5"])
    await get()
    const last = await get()
    expect([last.status, last.headers.get("x-left")]).toEqual([429, "1"])
    expect(Number(last.headers.get("x-wait"))).toBeGreaterThan(0)
    expect(last.headers.has("retry-after")).toBe(false)
    expect(last.body).toContain(`Try again in ${last.headers.get("x-wait")} seconds.`)
  })

  it("counts by the response: failures alone", async () => {
    const expression = { lang: "cel", text: "response.status >= 400", type: "bool" } as const
    const upstream = await startUpstream((request, response) => {
      request.resume()
      response.writeHead(request.url === "/a/bad" ? 404 : 200, { "content-length": "0" }).end()
    })
    const { get, running } = await start(
      { inbound: [limit({ countIf: expression, keys: [{ by: "ip" }] })] },
      { backends: { main: upstream.url } },
    )
    const ended = async (path: string, count: number) => {
      const { status } = await get(path)
      await until(() => running.log.length >= count)
      return status
    }
    const paths = ["/a/7", "/a/7", "/a/7", "/a/bad", "/a/7", "/a/bad", "/a/7"]
    const found: number[] = []
    for (const [index, path] of paths.entries()) found.push(await ended(path, index + 1))
    expect(found).toEqual([200, 200, 200, 404, 200, 404, 429])
    await upstream.close()
  })

  it("bounds found per request", async () => {
    const expression = { lang: "cel", text: "int(request.header('X-Max'))", type: "int" } as const
    const { get } = await start({ inbound: [limit({ callsMax: { expression }, keys: [{ by: "ip" }] })] })
    expect(await statuses(get, ["X-Max: 1\r\n", "X-Max: 1\r\n", "X-Max: 2\r\n", "X-Max: no\r\n"])).toEqual([
      200, 429, 200, 400,
    ])
  })
})

describe("limit-concurrency", () => {
  const places = (steps: StepDraft[] = []): StepDraft => ({
    kind: "limit-concurrency",
    counter: "c",
    key: "all",
    max: 1,
    steps,
  })

  it("a place is taken until the answer is out, and given back when the client goes", async () => {
    let release: (() => void)[] = []
    const upstream = await startUpstream((request, response) => {
      request.resume()
      release.push(() => response.writeHead(200, { "content-length": "0" }).end())
    })
    const { get, running } = await start({ inbound: [places()] }, { backends: { main: upstream.url } })
    const first = get()
    await until(() => release.length === 1)
    expect((await get()).status).toBe(429)
    release[0]?.()
    expect((await first).status).toBe(200)
    await until(() => running.log.length === 2)
    // One that goes away in the middle.
    const gone = sendRaw(running.port, "GET /a/7 HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n", 60).catch(
      () => undefined,
    )
    await until(() => release.length === 2)
    expect((await get()).status).toBe(429)
    release[1]?.()
    await gone
    await until(() => running.log.length === 4)
    const last = get()
    await until(() => release.length === 3)
    release[2]?.()
    expect((await last).status).toBe(200)
    release = []
    await upstream.close()
  })

  it("steps inside give it back when they have run, however they end", async () => {
    const refuse: StepDraft = {
      kind: "check-header",
      name: "x-a",
      values: [],
      ignoreCase: false,
      status: 404,
    }
    const { get } = await start({ inbound: [places([refuse])] })
    expect((await get()).status).toBe(404)
    expect((await get("/a/7", "X-A: 1\r\n")).status).toBe(200)
    expect((await get("/a/7", "X-A: 1\r\n")).status).toBe(200)
  })
})

describe("issuers with keys in the text", () => {
  const secret = "0123456789abcdef0123456789abcdef"
  const inline = (source: object, algorithms: string[]) =>
    ({
      acme: { source, audiences: ["api"], clockSkewSeconds: 0, algorithms, claims: null },
    }) as unknown as typeof issuers
  const draft = {
    secrets: { s: { env: "S", default: secret } },
    issuers: inline({ inline: [{ id: null, secret: "s", encoding: "text" }], issuer: null }, [
      "HS256",
      "HS384",
      "HS512",
    ]),
  }
  const signed = (key: string, claims: object = {}) =>
    new SignJWT({ aud: "api", scope: "read", exp: Math.floor(Date.now() / 1000) + 60, ...claims })
      .setProtectedHeader({ alg: "HS256" })
      .sign(Buffer.from(key))

  it("a shared secret lets in what it signed, and nothing else", async () => {
    const { get } = await start({ inbound: [jwt] }, draft)
    expect((await get("/a/7", `Authorization: Bearer ${await signed(secret)}\r\n`)).status).toBe(200)
    expect((await get("/a/7", `Authorization: Bearer ${await signed(`${secret}x`)}\r\n`)).status).toBe(401)
    const elsewhere = await signed(secret, { aud: "elsewhere" })
    expect((await get("/a/7", `Authorization: Bearer ${elsewhere}\r\n`)).status).toBe(401)
  })

  it("a secret that is too short keeps the plan from being served", async () => {
    const short = { ...draft, secrets: { s: { env: "S", default: "short" } } }
    await expect(start({ inbound: [jwt] }, short)).rejects.toThrow(/5 bytes is too short/)
  })

  it("a plan that lets a public key verify HMAC is none", async () => {
    const mixed = inline({ inline: [{ id: null, rsa: { n: "AQAB", e: "AQAB" } }], issuer: null }, ["HS256"])
    await expect(start({ inbound: [jwt] }, { issuers: mixed })).rejects.toThrow(
      /HMAC algorithms need a shared secret/,
    )
  })
})

describe("errors apim", () => {
  const limit: StepDraft = {
    kind: "rate-limit",
    counter: "c",
    callsMax: 1,
    periodSeconds: 60,
    keys: [{ by: "ip" }],
  }
  const messageOf = ({ body }: RawAnswer) => JSON.parse(body) as { statusCode: number; message: string }

  it("keys: what is missing, what is wrong, and where a key may come", async () => {
    const { get } = await start({ inbound: [key] }, { ...keyDraft, errors: "apim" })
    const missing = await get()
    expect(messageOf(missing)).toEqual({
      statusCode: 401,
      message: expect.stringMatching(/^Access denied due to missing subscription key\./),
    })
    expect(missing.headers.get("www-authenticate")).toBe(
      'AzureApiManagementKey realm="http://gw:81",name="X-Key",type="header"',
    )
    expect(messageOf(await get("/a/7", "X-Key: wrong\r\n")).message).toMatch(/invalid subscription key/)
  })

  it("tokens and limits", async () => {
    const { get } = await start({ inbound: [limit, jwt] }, { issuers, errors: "apim" }, verifier)
    expect(messageOf(await get())).toEqual({ statusCode: 401, message: "JWT not present." })
    expect(messageOf(await get()).message).toMatch(/^Rate limit is exceeded\. Try again in \d+ seconds\.$/)
    const { get: again } = await start({ inbound: [jwt] }, { issuers, errors: "apim" }, verifier)
    const bad = await again("/a/7", "Authorization: Bearer a.b.c\r\n")
    expect([bad.status, messageOf(bad).message]).toEqual([401, "Invalid JWT."])
  })
})
