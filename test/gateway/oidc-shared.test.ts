import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { Finished } from "../../runtime/gateway/observer.ts"
import { compiled } from "../diff/compiled.ts"
import { testKey } from "../identity/issuer-server.ts"
import { freePort } from "../support/free-port.ts"
import { startThrowAwayRedis, type ThrowAwayRedis } from "../support/throw-away-redis.ts"
import { until } from "../support/until.ts"
import { Browser } from "./browser.ts"
import { newGateway } from "./harness.ts"
import { TestProvider } from "./oidc-provider.ts"

let redis: ThrowAwayRedis
let provider: TestProvider
const closers: (() => Promise<void>)[] = []

beforeEach(async () => {
  ;[redis, provider] = await Promise.all([startThrowAwayRedis(), TestProvider.start()])
})

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  await Promise.all([redis.stop(), provider.stop()])
})

const cookie = "__Host-sallyport-web"

/** A process whose sessions are in Redis. */
async function start() {
  const port = await freePort()
  const plan = compiled({
    "gateway.conf": `
gateway test { listen 127.0.0.1:${port}; trust none; limits { shared redis redis_url { wait 2s } } }
secret redis_url = env(REDIS_URL)
secret web_secret = env(WEB_SECRET)
secret key = env(KEY)
issuer corp { discovery "${provider.url}"; audience api }
oidc web { issuer corp; client "web" secret web_secret; session-keys key; session redis; back-channel-logout "/oauth2/ended" }
api app { path "/app"; auth oidc web; GET "/{rest*}" { respond 200 { body text "\${jwt.sub}" } } }
`,
  })
  const clock = { skippedMs: 0 }
  const log: Finished[] = []
  const gateway = newGateway({
    folder: process.cwd(),
    environment: {
      ...{
        REDIS_URL: redis.url,
        WEB_SECRET: "a secret of the client",
        KEY: "the key of sessions, with 32 bytes",
      },
    },
    now: () => Date.now() + clock.skippedMs,
    observer: { finished: (finished) => log.push(finished) },
  })
  await gateway.apply(plan)
  closers.push(() => gateway.close(0))
  const url = `http://127.0.0.1:${port}`
  const skip = (seconds: number) => {
    clock.skippedMs += seconds * 1000
  }
  // The connection is used when the first request needs it.
  await until(
    async () =>
      (await new Browser().fetch(`${url}/app/a`, { cookie: `${cookie}=${"a".repeat(43)}` })).status === 401,
  )
  /** The provider sends a form. */
  const post = async (form: Record<string, string> | string, headers: Record<string, string> = {}) => {
    const before = log.length
    const response = await fetch(`${url}/oauth2/ended`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      body: typeof form === "string" ? form : new URLSearchParams(form).toString(),
    })
    const { status } = response
    const text = await response.text()
    await until(() => log.length > before)
    return { status, text, cause: log.at(-1)?.cause }
  }
  const logout = async (claims: Record<string, unknown>, how?: Parameters<TestProvider["logoutToken"]>[1]) =>
    post({ logout_token: await provider.logoutToken(claims, how) })
  return { host: `127.0.0.1:${port}`, url, app: `${url}/app/a`, skip, post, logout }
}

/** The session of one browser at another process. */
const at = (browser: Browser, host: string) => `${cookie}=${browser.cookies.get(host)?.get(cookie)}`

test("processes with one Redis share sessions; the cookie is only an id, and a logout ends every copy of it", async () => {
  const [one, two] = [await start(), await start()]
  const browser = new Browser()
  expect(await browser.open(one.app)).toMatchObject({ status: 200, body: "ann" })
  const session = at(browser, one.host)
  expect(session).toMatch(/^__Host-sallyport-web=[\w-]{43}$/)
  expect(await browser.fetch(two.app, { cookie: session })).toMatchObject({ status: 200, body: "ann" })
  const [key = ""] =
    (await redis.command("KEYS", "sallyport/test/oidc/web/session/*")).match(/sallyport\S+/) ?? []
  const stored = await redis.command("GET", key)
  expect(stored).not.toContain(session.slice(cookie.length + 1))
  expect(key).not.toContain(session.slice(cookie.length + 1))
  expect(await browser.fetch(two.app, { cookie: `${session.slice(0, -2)}AA` })).toMatchObject({ status: 401 })
  await browser.open(`${one.url}/oauth2/logout`)
  for (const { app } of [one, two])
    expect(await new Browser().fetch(app, { cookie: session })).toMatchObject({ problem: "login-required" })
})

test("one process refreshes a session, and the others take its tokens", async () => {
  const [one, two] = [await start(), await start()]
  const browser = new Browser()
  await browser.open(one.app)
  const session = at(browser, one.host)
  one.skip(250)
  two.skip(250)
  const pages = await Promise.all(
    [one, two, one, two].map(({ app }) => new Browser().fetch(app, { cookie: session })),
  )
  expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(provider).toMatchObject({ grants: ["authorization_code", "refresh_token"], reused: false })
})

test("a new login has a new id, and the old one ends", async () => {
  const { app, url, host } = await start()
  const browser = new Browser()
  await browser.open(app)
  const before = at(browser, host)
  await browser.open(`${url}/oauth2/login?return_to=/app/b`)
  expect(at(browser, host)).not.toBe(before)
  expect((await new Browser().fetch(app, { cookie: before })).status).toBe(401)
})

test("while Redis is unavailable, requests with a session get 503, and others still begin a login", async () => {
  const { app, host } = await start()
  const browser = new Browser()
  await browser.open(app)
  const session = at(browser, host)
  const { port } = redis
  await redis.stop()
  expect(await browser.fetch(app, { cookie: session })).toMatchObject({
    ...{ status: 503, problem: "sessions-unavailable" },
    headers: { "retry-after": "1" },
  })
  expect((await new Browser().visit(app)).status).toBe(302)
  redis = await startThrowAwayRedis([], port)
  await until(async () => (await browser.fetch(app, { cookie: session })).problem === "login-required")
})

describe("the provider ends", () => {
  /** The status of a page for a browser that follows no redirect, as a script would ask. */
  const statusOf = async (app: string, session: string) =>
    (await new Browser().fetch(app, { cookie: session })).status

  /** Logs a new browser in, with a session of the provider. */
  const loggedIn = async (gateway: { app: string; host: string }, claims: Record<string, unknown>) => {
    provider.claims = claims
    const browser = new Browser()
    expect((await browser.open(gateway.app)).status).toBe(200)
    return at(browser, gateway.host)
  }

  test("the session that it names, at all processes, and no other", async () => {
    const [one, two] = [await start(), await start()]
    const first = await loggedIn(one, { sid: "sid:1", sub: "sub:ann" })
    const second = await loggedIn(one, { sid: "sid:2", sub: "sub:ann" })
    expect(await two.logout({ sid: "sid:1", sub: "sub:ann" })).toMatchObject({
      ...{ status: 200, text: "", cause: "the provider has ended 1 session" },
    })
    for (const { app } of [one, two]) {
      expect(await statusOf(app, first)).toBe(401)
      expect(await statusOf(app, second)).toBe(200)
    }
    // Nothing to end is a success (§2.7).
    expect(await one.logout({ sid: "sid:1" })).toMatchObject({
      ...{ status: 200, cause: "the provider has ended 0 sessions" },
    })
    const keys = await redis.command("KEYS", "*")
    // With a colon, which the base64url of the digests cannot have by chance.
    expect(keys).not.toMatch(/sub:|sid:/)
  })

  test("all sessions of a user, also those without a session of the provider", async () => {
    const gateway = await start()
    const sessions = [await loggedIn(gateway, { sid: "s1" }), await loggedIn(gateway, {})]
    const other = await loggedIn(gateway, { sub: "bob", sid: "s3" })
    const unnamed = await loggedIn(gateway, { sub: "cid" })
    expect(await gateway.logout({ sub: "ann" })).toMatchObject({ status: 200 })
    for (const session of sessions) expect(await statusOf(gateway.app, session)).toBe(401)
    expect(await statusOf(gateway.app, other)).toBe(200)
    // Its ID token does not say to which session of the provider it belongs.
    expect(await gateway.logout({ sub: "cid", sid: "s4" })).toMatchObject({ status: 200 })
    expect(await statusOf(gateway.app, unnamed)).toBe(401)
  })

  test("a session whose login is being finished", async () => {
    const gateway = await start()
    const seconds = Math.floor(Date.now() / 1000)
    expect(await gateway.logout({ sid: "s1", iat: seconds + 1 })).toMatchObject({ status: 200 })
    provider.claims = { sid: "s1", iat: seconds }
    expect(await new Browser().open(gateway.app)).toMatchObject({ status: 400, problem: "login-invalid" })
    expect(await redis.command("KEYS", "sallyport/test/oidc/web/session/*")).not.toContain("session/")
    provider.claims = { sid: "s1", iat: seconds + 2 }
    expect((await new Browser().open(gateway.app)).status).toBe(200)
  })

  test("nothing with a token that was used, or is no valid logout token", async () => {
    const gateway = await start()
    const session = await loggedIn(gateway, { sid: "s1" })
    const seconds = Math.floor(Date.now() / 1000)
    const named = { sid: "s1", sub: "ann" }
    const foreign = await testKey("1")
    const invalid: [Record<string, unknown>, { typ?: string; key?: typeof foreign }, RegExp][] = [
      [{ aud: "other" }, {}, /audience/],
      [{ iss: "https://other.example" }, {}, /another issuer/],
      [{}, { key: foreign }, /signature/],
      [{ exp: seconds - 3600 }, {}, /expired/],
      [{ iat: undefined }, {}, /`iat`/],
      [{ iat: seconds - 1200, exp: undefined }, {}, /older than ten minutes/],
      [{ iat: seconds + 3600 }, {}, /future/],
      [{ jti: undefined }, {}, /`jti`/],
      [{ nonce: "n" }, {}, /`nonce`/],
      [{ events: undefined }, {}, /`events`/],
      [{ events: { "http://schemas.openid.net/event/backchannel-logout": true } }, {}, /`events`/],
      [{ sid: undefined, sub: undefined }, {}, /neither `sid` nor `sub`/],
      [{ sid: 7 }, {}, /`sid` or `sub`/],
      [{}, { typ: "at+jwt" }, /`typ`/],
    ]
    for (const [claims, how, why] of invalid) {
      const { status, cause } = await gateway.logout({ ...named, ...claims }, how)
      expect([status, cause]).toEqual([400, expect.stringMatching(why)])
    }
    const form = { logout_token: await provider.logoutToken({ ...named, sid: "s9" }) }
    expect(await gateway.post(form, { "content-type": "application/json" })).toMatchObject({ status: 400 })
    expect(await gateway.post({ token: form.logout_token })).toMatchObject({ status: 400 })
    expect(await gateway.post(`logout_token=a&${new URLSearchParams(form)}`)).toMatchObject({ status: 400 })
    expect(await gateway.post({ logout_token: "a".repeat(20_000) })).toMatchObject({ status: 413 })
    expect((await fetch(`${gateway.url}/oauth2/ended`)).status).toBe(405)
    expect(await statusOf(gateway.app, session)).toBe(200)
    expect(await gateway.post(form)).toMatchObject({ status: 200 })
    expect(await gateway.post(form)).toMatchObject({
      status: 400,
      cause: expect.stringMatching(/used before/),
    })
  })

  test("a session although Redis failed half-way: the provider can repeat the request", async () => {
    const [one, two] = [await start(), await start()]
    const session = await loggedIn(one, { sid: "s1" })
    const form = { logout_token: await provider.logoutToken({ sid: "s1" }) }
    await redis.command("ACL", "SETUSER", "default", "-del")
    expect(await one.post(form)).toMatchObject({ status: 503, text: expect.stringMatching(/unavailable/) })
    await redis.command("ACL", "SETUSER", "default", "+del")
    expect(await statusOf(two.app, session)).toBe(200)
    expect(await two.post(form)).toMatchObject({ status: 200, cause: "the provider has ended 1 session" })
    expect(await statusOf(two.app, session)).toBe(401)
  })
})
