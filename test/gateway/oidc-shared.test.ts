import { afterEach, beforeEach, expect, test } from "vitest"
import { compiled } from "../diff/compiled.ts"
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
oidc web { issuer corp; client "web" secret web_secret; session-keys key; session redis }
api app { path "/app"; auth oidc web; GET "/{rest*}" { respond 200 { body text "\${jwt.sub}" } } }
`,
  })
  const clock = { skippedMs: 0 }
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
  return { host: `127.0.0.1:${port}`, url, app: `${url}/app/a`, skip }
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
