import { randomBytes } from "node:crypto"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { Finished } from "../../runtime/gateway/observer.ts"
import { compiled } from "../diff/compiled.ts"
import { testKey } from "../identity/issuer-server.ts"
import { freePort } from "../support/free-port.ts"
import { until } from "../support/until.ts"
import { Browser, type Page } from "./browser.ts"
import { newGateway, startUpstream, type Upstream } from "./harness.ts"
import { TestProvider } from "./oidc-provider.ts"

let provider: TestProvider
let upstream: Upstream
const closers: (() => Promise<void>)[] = []

beforeEach(async () => {
  ;[provider, upstream] = await Promise.all([TestProvider.start(), startUpstream()])
})

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
  await Promise.all([provider.stop(), upstream.close()])
})

const environment = {
  WEB_SECRET: "a secret of the client",
  KEY: "the key of sessions, with 32 bytes",
  OLD_KEY: "the former key of sessions, 32 bytes",
}

interface Wanted {
  /** Statements in `oidc web`. */
  readonly client?: string
  /** Statements in `auth oidc web`. */
  readonly auth?: string
  readonly keys?: string
  /** Further declarations, and statements of the gateway. */
  readonly more?: string
  readonly gateway?: string
  readonly ways?: string
  readonly environment?: Record<string, string>
  readonly port?: number
}

/** A gateway with pages that need a session, and public ones. `skip` moves its clock. */
async function start(wanted: Wanted = {}) {
  const port = wanted.port ?? (await freePort())
  const plan = compiled({
    "gateway.conf": `
gateway test { listen 127.0.0.1:${port}; ${wanted.gateway ?? "trust none"} }
secret web_secret = env(WEB_SECRET)
secret key = env(KEY)
${/old_key/.test(wanted.keys ?? "") ? "secret old_key = env(OLD_KEY)" : ""}
issuer corp { discovery "${provider.url}"; audience api }
oidc web { issuer corp; client "web" secret web_secret; session-keys ${wanted.keys ?? "key"}; ${wanted.client ?? ""} }
${wanted.more ?? ""}
backend pages { url "${upstream.url}" }
api app {
  path "/app"
  backend pages
  auth oidc web { ${wanted.auth ?? ""} }
  ${wanted.ways ?? ""}
  inbound { header set "X-User" "\${jwt.sub}" }
  ANY "/{rest*}"
}
api public { path "/public"; backend pages; auth none; GET "/{rest*}" }
`,
  })
  const clock = { skippedMs: 0 }
  const log: Finished[] = []
  const gateway = newGateway({
    folder: process.cwd(),
    environment: { ...environment, ...wanted.environment },
    now: () => Date.now() + clock.skippedMs,
    quotas: { take: () => ({ allowed: true }), add: () => undefined },
    observer: { finished: (finished) => log.push(finished) },
  })
  await gateway.apply(plan)
  closers.push(() => gateway.close(0))
  const host = `127.0.0.1:${port}`
  return {
    ...{ port, host, log, gateway },
    url: `http://${host}`,
    app: `http://${host}/app/page?q=1`,
    skip: (seconds: number) => {
      clock.skippedMs += seconds * 1000
    },
  }
}

const cookie = "__Host-sallyport-web"

/** Begins a login and returns the address of the callback, which the browser has not followed yet. */
async function begun(browser: Browser, app: string): Promise<string> {
  const toProvider = await browser.visit(app)
  const fromProvider = await browser.visit(toProvider.headers.location ?? "")
  return fromProvider.headers.location ?? ""
}

const lastHeaders = () => upstream.requests.at(-1)?.headers ?? {}

describe("a login", () => {
  test("leads to the page that was wanted, and the backend gets the claims but no cookie of the session", async () => {
    const { app, host, log } = await start()
    const browser = new Browser()
    browser.cookies.set(host, new Map([["theme", "dark"]]))
    const page = await browser.open(app)
    expect(page).toMatchObject({ status: 200, url: app })
    expect(lastHeaders()).toMatchObject({ "x-user": "ann", cookie: "theme=dark" })
    expect(lastHeaders().authorization).toBeUndefined()
    expect(browser.named(host, "__Host-")).toEqual([cookie])
    const [asked] = provider.authorizations
    expect(Object.fromEntries(asked ?? [])).toMatchObject({
      ...{ response_type: "code", client_id: "web", scope: "openid", code_challenge_method: "S256" },
      redirect_uri: `http://${host}/oauth2/callback`,
    })
    await until(() => log.length >= 3)
    expect(log.at(-1)).toMatchObject({ user: "ann", status: 200 })
    expect((await browser.open(app)).status).toBe(200)
    expect(provider.grants).toEqual(["authorization_code"])
  })

  test("sets its cookies only for this host, over HTTPS, and not for scripts or other sites", async () => {
    const { app } = await start()
    const browser = new Browser()
    const toProvider = await browser.visit(app)
    expect(toProvider).toMatchObject({ status: 302, headers: { "cache-control": "no-store" } })
    expect(toProvider.headers["set-cookie"]).toEqual([
      expect.stringMatching(
        /^__Host-sallyport-web\.login\.[\w-]{16}=[\w-]+; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/,
      ),
    ])
    const done = await browser.visit(await begun(browser, app))
    expect(done.headers["set-cookie"]).toEqual([
      expect.stringMatching(/^__Host-sallyport-web\.login\.[\w-]{16}=; Path=\/; Max-Age=0; Secure/),
      expect.stringMatching(
        /^__Host-sallyport-web=1\.[\w-]+; Path=\/; Max-Age=28800; Secure; HttpOnly; SameSite=Lax$/,
      ),
    ])
  })

  test("requests what the client says: scopes, parameters, the external address, other paths", async () => {
    const { app, url } = await start({
      client: `scope "profile offline_access"; parameter "audience" "https://api.example"; external "https://app.example"
        callback "/signin"; login "/enter"`,
    })
    const toProvider = await new Browser().visit(app)
    const { searchParams } = new URL(toProvider.headers.location ?? "")
    expect(Object.fromEntries(searchParams)).toMatchObject({
      ...{ scope: "openid profile offline_access", audience: "https://api.example" },
      redirect_uri: "https://app.example/signin",
    })
    expect((await new Browser().visit(`${url}/enter`)).status).toBe(302)
    expect((await new Browser().visit(`${url}/oauth2/callback`)).problem).toBe("not-found")
  })

  test("uses scheme and Host after trusted proxies", async () => {
    const { app } = await start({ gateway: "trust 127.0.0.1" })
    const toProvider = await new Browser().visit(app, { host: "app.example", "x-forwarded-proto": "https" })
    const { searchParams } = new URL(toProvider.headers.location ?? "")
    expect(searchParams.get("redirect_uri")).toBe("https://app.example/oauth2/callback")
  })

  test("in several tabs at once; the oldest of many that are not finished are forgotten", async () => {
    const { app, host } = await start()
    const browser = new Browser()
    const first = await begun(browser, app)
    const second = await begun(browser, `${app}&tab=2`)
    expect((await browser.open(first)).url).toBe(app)
    expect((await browser.open(second)).url).toBe(`${app}&tab=2`)
    browser.cookies.clear()
    const callbacks: string[] = []
    for (let tab = 0; tab < 6; tab += 1) callbacks.push(await begun(browser, `${app}&tab=${tab}`))
    expect(browser.named(host, `${cookie}.login.`)).toHaveLength(4)
    expect((await browser.visit(callbacks[0] ?? "")).problem).toBe("login-invalid")
    expect((await browser.open(callbacks[5] ?? "")).url).toBe(`${app}&tab=5`)
  })

  test("of a page that asks for it, only with a path of the same site", async () => {
    const { url, host } = await start()
    const browser = new Browser()
    const enter = (to: string) => `${url}/oauth2/login?return_to=${encodeURIComponent(to)}`
    expect((await browser.open(enter("/public/a?b=c#d"))).url).toBe(`${url}/public/a?b=c#d`)
    expect((await browser.open(`${url}/oauth2/login`)).url).toBe(`${url}/`)
    for (const foreign of [
      "https://evil.example/",
      "//evil.example/",
      "/\\evil.example",
      "\\\\evil.example",
      "/\t/evil.example",
      "/a\nb",
      "javascript:alert(1)",
      "evil",
      `/${"a".repeat(3000)}`,
      "",
    ])
      expect((await browser.visit(enter(foreign))).problem, foreign).toBe("invalid-request")
    expect((await browser.open(enter("/oauth2/logout"))).url).toBe(`${url}/`)
    expect(browser.named(host, cookie)).toHaveLength(1)
  })

  test("begins only for a page: scripts, forms, frames and prefetches get 401", async () => {
    const { app, host } = await start()
    const browser = new Browser()
    const refused: [string, Promise<Page>][] = [
      ["fetch", browser.fetch(app)],
      ["POST", browser.send("POST", app, { accept: "text/html", "sec-fetch-mode": "navigate" })],
      ["HEAD", browser.send("HEAD", app, { accept: "text/html" })],
      ["frame", browser.visit(app, { "sec-fetch-dest": "iframe" })],
      ["prefetch", browser.visit(app, { "sec-purpose": "prefetch" })],
      ["old script", browser.send("GET", app, { accept: "text/html", "x-requested-with": "XMLHttpRequest" })],
      ["program", browser.send("GET", app, { accept: "application/json" })],
    ]
    for (const [what, asked] of refused) {
      const page = await asked
      expect(page.status, what).toBe(401)
      expect(page.headers["www-authenticate"]).toBe(`Cookie cookie-name="${cookie}"`)
      if (what !== "HEAD") expect(page.problem, what).toBe("login-required")
    }
    expect(browser.named(host, "")).toEqual([])
    expect((await browser.send("GET", app, { accept: "text/html" })).status).toBe(302)
    expect(upstream.requests).toEqual([])
  })
})

describe("a response of the provider is refused", () => {
  test("in another browser, a second time, with another state, without one, and after ten minutes", async () => {
    const { app, skip, log } = await start()
    const browser = new Browser()
    const callback = await begun(browser, app)
    expect((await new Browser().visit(callback)).problem).toBe("login-invalid")
    const other = new URL(callback)
    other.searchParams.set("state", "another")
    expect((await browser.visit(other.href)).problem).toBe("login-invalid")
    other.searchParams.delete("state")
    expect((await browser.visit(other.href)).problem).toBe("login-invalid")
    expect((await browser.visit(`${callback}&state=a`)).problem).toBe("login-invalid")
    expect(provider.grants).toEqual([])
    expect((await browser.visit(callback)).status).toBe(302)
    expect((await browser.visit(callback)).problem).toBe("login-invalid")
    browser.cookies.clear()
    const late = await begun(browser, app)
    skip(601)
    expect((await browser.visit(late)).problem).toBe("login-invalid")
    expect(provider.grants).toEqual(["authorization_code"])
    expect(log.at(-1)?.cause).toContain("longer than ten minutes")
  })

  test("with an altered cookie, and with the cookie of a session in its place", async () => {
    const { app, host } = await start()
    const browser = new Browser()
    await browser.open(app)
    const jar = browser.cookies.get(host) as Map<string, string>
    const session = (jar.get(cookie) ?? "").slice(2)
    jar.delete(cookie)
    const fresh = await begun(browser, app)
    const [pending = ""] = browser.named(host, `${cookie}.login.`)
    const good = jar.get(pending) ?? ""
    for (const wrong of [session, `${good.slice(0, -3)}AAA`, good.slice(0, 20), "", "%%"]) {
      jar.set(pending, wrong)
      expect((await browser.visit(fresh)).problem, wrong.slice(0, 9)).toBe("login-invalid")
    }
    jar.set(pending, good)
    expect((await browser.visit(fresh)).status).toBe(302)
  })

  test("when its ID token is for another audience, client, nonce or issuer, expired, or signed by another key", async () => {
    const { app, log } = await start()
    const seconds = Math.floor(Date.now() / 1000)
    const refused: [Record<string, unknown>, string, string][] = [
      [{ aud: "api" }, "login-failed", "another audience"],
      [{ aud: ["web", "api"] }, "login-failed", "another client"],
      [{ azp: "other" }, "login-failed", "another client"],
      [{ nonce: "another" }, "login-invalid", "nonce"],
      [{ nonce: undefined }, "login-invalid", "nonce"],
      [{ iss: "http://evil.example" }, "login-failed", "another issuer"],
      [{ exp: seconds - 3600 }, "login-failed", "expired"],
      [{ exp: undefined }, "login-failed", "`exp` is missing"],
      [{ sub: "" }, "login-failed", "no `sub`"],
    ]
    for (const [claims, problem, cause] of refused) {
      provider.claims = claims
      const page = await new Browser().open(app)
      expect(page.problem, cause).toBe(problem)
      await until(() => log.at(-1)?.cause?.includes(cause) === true)
    }
    provider.claims = {}
    provider.foreignKey = await testKey("1")
    expect((await new Browser().open(app)).problem).toBe("login-failed")
    await until(() => log.at(-1)?.cause?.includes("signature") === true)
    expect(upstream.requests).toEqual([])
  })

  test("that lets nobody in, or comes from another provider", async () => {
    const { app, log } = await start()
    provider.denies = { error: "access_denied", error_description: "<b>no</b>" }
    const page = await new Browser().open(app)
    expect(page.problem).toBe("login-refused")
    expect(page.body).not.toContain("<b>")
    provider.denies = { error: "temporarily_unavailable" }
    expect((await new Browser().open(app)).problem).toBe("issuer-unavailable")
    provider.denies = { code: "a", iss: "http://evil.example" }
    expect((await new Browser().open(app)).problem).toBe("login-invalid")
    await until(() => log.at(-1)?.cause?.includes("another issuer") === true)
    provider.denies = { code: "unknown" }
    expect((await new Browser().open(app)).problem).toBe("login-invalid")
    await until(() => log.at(-1)?.cause?.includes("invalid_grant") === true)
  })

  test("whose token endpoint fails, or returns no tokens", async () => {
    const { app } = await start()
    const answers: [unknown, number, string][] = [
      [{ error: "invalid_client" }, 401, "login-failed"],
      [{}, 503, "issuer-unavailable"],
      [{ access_token: "a", token_type: "Bearer" }, 200, "login-failed"],
      [{ access_token: "a", token_type: "mac", id_token: "a.b.c" }, 200, "login-failed"],
      ["not an object", 200, "login-failed"],
    ]
    for (const [body, status, problem] of answers) {
      provider.tokenAnswer = { status, body }
      expect((await new Browser().open(app)).problem, JSON.stringify(body)).toBe(problem)
    }
  })
})

describe("a provider", () => {
  test("that is down prevents logins, but sessions continue", async () => {
    const { app } = await start()
    const browser = new Browser()
    await browser.open(app)
    provider.down = true
    expect((await browser.open(app)).status).toBe(200)
    const other = await start()
    const page = await new Browser().visit(other.app)
    expect(page).toMatchObject({
      status: 503,
      problem: "issuer-unavailable",
      headers: { "retry-after": "1" },
    })
    expect((await new Browser().visit(`${other.url}/public/a`)).status).toBe(200)
  })

  test("must support PKCE with S256, and have the endpoints of a login", async () => {
    for (const metadata of [
      { code_challenge_methods_supported: ["plain"] },
      { authorization_endpoint: undefined },
      { token_endpoint: "file:///etc/passwd" },
    ]) {
      provider.metadata = metadata
      const { app } = await start()
      expect((await new Browser().visit(app)).problem, JSON.stringify(metadata)).toBe("issuer-unavailable")
    }
  })
})

describe("a session", () => {
  test("is not accepted when altered, from another key or client, or given twice", async () => {
    const { app, host, log } = await start()
    const browser = new Browser()
    await browser.open(app)
    const good = browser.cookies.get(host)?.get(cookie) ?? ""
    const ask = (value: string) => browser.fetch(app, { cookie: value })
    expect((await ask(`${cookie}=${good}`)).status).toBe(200)
    for (const wrong of [
      `${cookie}=${good.slice(0, -4)}AAAA`,
      `${cookie}=1.${randomBytes(200).toString("base64url")}`,
      `${cookie}=2.${good.slice(2)}`,
      `${cookie}=9.${good.slice(2)}`,
      `${cookie}=`,
      `${cookie}=${good}; ${cookie}=${good}`,
    ])
      expect((await ask(wrong)).problem, wrong.slice(0, 30)).toBe("login-required")
    await until(() => log.at(-1)?.reason === "SessionInvalid")
    const others = await start({ environment: { KEY: "another key for sessions, 32 bytes" } })
    expect((await new Browser().fetch(others.app, { cookie: `${cookie}=${good}` })).status).toBe(401)
  })

  test("survives the rotation of its key, and is sealed with the new one", async () => {
    const before = await start()
    const browser = new Browser()
    await browser.open(before.app)
    const old = browser.cookies.get(before.host)?.get(cookie) ?? ""
    const rotated = { KEY: "a new key for sessions, 32 bytes!", OLD_KEY: environment.KEY }
    const after = await start({ keys: "key old_key", environment: rotated })
    browser.cookies.set(after.host, new Map([[cookie, old]]))
    expect((await browser.fetch(after.app)).status).toBe(200)
    const renewed = browser.cookies.get(after.host)?.get(cookie) ?? ""
    expect(renewed).not.toBe(old)
    const last = await start({ environment: { KEY: rotated.KEY } })
    expect((await browser.fetch(last.app, { cookie: `${cookie}=${renewed}` })).status).toBe(200)
    expect((await browser.fetch(last.app, { cookie: `${cookie}=${old}` })).status).toBe(401)
  })

  test("needs a key that cannot be guessed", async () => {
    await expect(start({ environment: { KEY: "short" } })).rejects.toThrow("at least 32")
  })

  test("ends with its lifetime, and its claims say when", async () => {
    const { app, skip } = await start({ client: "lifetime 1h", more: "" })
    provider.offersRefresh = false
    const browser = new Browser()
    await browser.open(app)
    skip(3590)
    expect((await browser.fetch(app)).status).toBe(200)
    skip(20)
    expect((await browser.fetch(app)).problem).toBe("login-required")
    expect((await browser.visit(app)).status).toBe(302)
  })

  test("that is large is split into several cookies, and one that is too large is refused", async () => {
    const { app, host } = await start()
    provider.claims = { roles: "r".repeat(4000) }
    const browser = new Browser()
    expect((await browser.open(app)).status).toBe(200)
    expect(browser.named(host, cookie)).toEqual([cookie, `${cookie}.1`, `${cookie}.2`].slice(0, 3))
    const jar = browser.cookies.get(host) as Map<string, string>
    const last = [...jar.keys()].at(-1) ?? ""
    const part = jar.get(last) ?? ""
    jar.delete(last)
    expect((await browser.fetch(app)).problem).toBe("login-required")
    jar.set(last, part)
    provider.claims = {}
    await browser.open(`${new URL(app).origin}/oauth2/login?return_to=/app/`)
    expect(browser.named(host, cookie)).toEqual([cookie])
    const forwarding = await start({ auth: "forward access-token" })
    provider.claims = { roles: "r".repeat(2000) }
    provider.accessTokenEnd = "a".repeat(7000)
    expect((await new Browser().open(forwarding.app)).problem).toBe("session-too-large")
    await until(() => forwarding.log.at(-1)?.cause?.includes("session redis") === true)
  })

  test("has claims for rules, and only what the route forwards goes to the backend", async () => {
    const staff = await start({ auth: 'claim groups has "staff"; forward access-token' })
    expect((await new Browser().open(staff.app)).status).toBe(200)
    expect(lastHeaders().authorization).toBe("Bearer access-1")
    const admins = await start({ auth: 'claim groups has "admin"' })
    const page = await new Browser().open(admins.app)
    expect(page).toMatchObject({ status: 403, problem: "insufficient-scope" })
    const ids = await start({ auth: "forward id-token" })
    await new Browser().open(ids.app)
    expect(lastHeaders().authorization).toMatch(/^Bearer ey[\w-]+\.[\w-]+\.[\w-]+$/)
  })

  test("has cookies that no other route, and no backend, gets", async () => {
    const { app, host, url } = await start()
    const browser = new Browser()
    await browser.open(app)
    browser.cookies.get(host)?.set("a", "b")
    await browser.fetch(`${url}/public/x`)
    expect(lastHeaders().cookie).toBe("a=b")
    await browser.fetch(`${url}/public/x`, { cookie: `${cookie}=x; __Host-sallyport-old.1=y` })
    expect(lastHeaders()).not.toHaveProperty("cookie")
  })
})

describe("claims of the access token", () => {
  const wanted: Wanted = {
    auth: 'claims-from access-token; claim roles has "clerk"',
    more: 'api named { path "/named"; backend pages; auth oidc web { claims-from access-token }; inbound { header set "X-Number" "${jwt.number}" }; GET "/" }',
  }

  test("decide, the backend gets no token, and a refresh brings new ones", async () => {
    provider.accessClaims = { roles: ["clerk"] }
    const { app, url, skip } = await start(wanted)
    const browser = new Browser()
    expect((await browser.open(app)).status).toBe(200)
    expect(lastHeaders()).toMatchObject({ "x-user": "ann" })
    expect(lastHeaders().authorization).toBeUndefined()
    provider.accessClaims = { roles: [] }
    skip(250)
    expect(await browser.fetch(app)).toMatchObject({ status: 403, problem: "insufficient-scope" })
    expect((await browser.fetch(`${url}/named`)).status).toBe(200)
    expect(lastHeaders()["x-number"]).toBe("2")
  })

  test("are no claims if the token is not for the API, or is no JWT: the login fails, and says why", async () => {
    for (const [claims, why] of [
      [{ aud: "other" }, /another audience/],
      [{ iss: "https://other.example" }, /another issuer/],
      [undefined, /malformed/],
    ] as const) {
      provider.accessClaims = claims
      const { app, log } = await start(wanted)
      expect(await new Browser().open(app)).toMatchObject({ status: 502, problem: "login-failed" })
      await until(() => log.some(({ cause }) => why.test(cause ?? "")))
    }
  })

  test("end with the token if it was not refreshed", async () => {
    provider.accessClaims = { roles: ["clerk"] }
    provider.offersRefresh = false
    const { app, skip } = await start(wanted)
    const browser = new Browser()
    expect((await browser.open(app)).status).toBe(200)
    skip(290)
    expect((await browser.fetch(app)).status).toBe(200)
    skip(11)
    expect(await browser.fetch(app)).toMatchObject({ status: 401, problem: "login-required" })
  })
})

describe("beside other credentials", () => {
  const ways = "auth jwt corp"

  test("a token is accepted, a page without either begins a login, a script gets 401", async () => {
    const { app } = await start({ ways })
    expect((await new Browser().visit(app)).status).toBe(302)
    expect((await new Browser().fetch(app)).status).toBe(401)
    expect((await new Browser().open(app)).status).toBe(200)
    expect((await new Browser().visit(app, { authorization: "Bearer a.b.c" })).status).toBe(401)
  })
})

describe("a refresh", () => {
  test("gets new tokens before the old ones expire, once for all requests of a page", async () => {
    const { app, skip } = await start({ auth: "forward access-token" })
    const browser = new Browser()
    await browser.open(app)
    skip(200)
    await browser.fetch(app)
    expect(provider.grants).toEqual(["authorization_code"])
    skip(60)
    const before = new Map(browser.cookies.get(new URL(app).host))
    const old = [...before].map(([name, value]) => `${name}=${value}`).join("; ")
    const pages = await Promise.all(Array.from({ length: 8 }, () => browser.fetch(app, { cookie: old })))
    expect(pages.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(provider.grants).toEqual(["authorization_code", "refresh_token"])
    expect(lastHeaders().authorization).toBe("Bearer access-2")
    // A request that was sent with the old cookie arrives after the refresh.
    expect((await browser.fetch(app, { cookie: old })).status).toBe(200)
    expect(provider).toMatchObject({ reused: false, grants: ["authorization_code", "refresh_token"] })
    skip(250)
    await browser.fetch(app)
    expect(lastHeaders().authorization).toBe("Bearer access-3")
    expect(provider.reused).toBe(false)
  })

  test("that the provider refuses ends the session when its token expires", async () => {
    const { app, skip, log } = await start()
    const browser = new Browser()
    await browser.open(app)
    provider.tokenAnswer = { status: 400, body: { error: "invalid_grant" } }
    skip(250)
    expect((await browser.fetch(app)).status).toBe(200)
    skip(60)
    expect((await browser.fetch(app)).problem).toBe("login-required")
    await until(() => log.at(-1)?.cause?.includes("invalid_grant") === true)
    provider.tokenAnswer = undefined
    expect((await browser.open(app)).status).toBe(200)
  })

  test("while the provider is down does no harm until the token expires; then requests get 503", async () => {
    const { app, skip } = await start()
    const browser = new Browser()
    await browser.open(app)
    provider.down = true
    skip(250)
    expect((await browser.fetch(app)).status).toBe(200)
    skip(60)
    const page = await browser.fetch(app)
    expect(page).toMatchObject({ status: 503, problem: "issuer-unavailable" })
    provider.down = false
    await until(async () => (await browser.fetch(app)).status === 200)
  })

  test("cannot change the user", async () => {
    const { app, skip } = await start()
    const browser = new Browser()
    await browser.open(app)
    provider.claims = { sub: "bob" }
    skip(310)
    expect((await browser.fetch(app)).problem).toBe("login-required")
  })

  test("is not possible without a refresh token: then a forwarded token ends the session", async () => {
    provider.offersRefresh = false
    const { app, skip } = await start({ auth: "forward access-token" })
    const browser = new Browser()
    await browser.open(app)
    skip(310)
    expect((await browser.fetch(app)).problem).toBe("login-required")
  })
})

describe("a logout", () => {
  test("ends the session here and at the provider", async () => {
    const { app, url, host } = await start({ client: 'after-logout "/public/bye"' })
    const browser = new Browser()
    await browser.open(app)
    const page = await browser.open(`${url}/oauth2/logout`, { "sec-fetch-site": "same-origin" })
    expect(page).toMatchObject({ status: 200, url: `${url}/public/bye` })
    expect(browser.named(host, cookie)).toEqual([])
    expect(provider.logouts).toHaveLength(1)
    expect(Object.fromEntries(provider.logouts[0] ?? [])).toEqual({
      client_id: "web",
      id_token_hint: expect.stringMatching(/^ey/),
      post_logout_redirect_uri: `${url}/public/bye`,
    })
    expect((await browser.fetch(app)).status).toBe(401)
  })

  test("cannot be started by another site", async () => {
    const { app, url } = await start()
    const browser = new Browser()
    await browser.open(app)
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }])
      expect((await browser.visit(`${url}/oauth2/logout`, headers)).problem).toBe("forbidden")
    const post = (origin: string) => browser.send("POST", `${url}/oauth2/logout`, { origin })
    expect((await post("https://evil.example")).problem).toBe("forbidden")
    expect((await browser.fetch(app)).status).toBe(200)
    expect((await post(url)).status).toBe(302)
    expect((await browser.fetch(app)).status).toBe(401)
    expect((await browser.send("PUT", `${url}/oauth2/logout`, {})).headers.allow).toBe("GET, POST")
  })

  test("works without the provider", async () => {
    provider.metadata = { end_session_endpoint: undefined }
    const { app, url } = await start()
    const browser = new Browser()
    await browser.open(app)
    const page = await browser.open(`${url}/oauth2/logout`)
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining("You are logged out") })
    expect((await browser.fetch(app)).status).toBe(401)
  })
})
