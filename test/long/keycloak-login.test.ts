import type { ChildProcess } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Gateway } from "../../runtime/gateway/gateway.ts"
import type { Finished } from "../../runtime/gateway/observer.ts"
import { compiled } from "../diff/compiled.ts"
import { newGateway, startUpstream, type Upstream } from "../gateway/harness.ts"
import { Chromium, chromiumPath } from "../support/chromium.ts"
import { freePort } from "../support/free-port.ts"
import {
  keycloakAdmin,
  keycloakStartMs,
  keycloakVersion,
  missingKeycloak,
  startKeycloak,
} from "../support/keycloak.ts"
import { startThrowAwayRedis, type ThrowAwayRedis } from "../support/throw-away-redis.ts"
import { until } from "../support/until.ts"

const path = chromiumPath()
const reason = path === undefined ? "Chromium is not installed" : missingKeycloak()
/** Short, so that a test sees refreshes; Keycloak rotates refresh tokens, and ends a session when one is used twice. */
const tokenSeconds = 20

const realmOf = (url: string) => ({
  realm: "acme",
  enabled: true,
  accessTokenLifespan: tokenSeconds,
  revokeRefreshToken: true,
  refreshTokenMaxReuse: 0,
  clients: [
    {
      clientId: "web",
      secret: "web-secret",
      publicClient: false,
      standardFlowEnabled: true,
      redirectUris: [`${url}/oauth2/callback`],
      attributes: {
        "pkce.code.challenge.method": "S256",
        "post.logout.redirect.uris": `${url}/public/bye`,
        "backchannel.logout.url": `${url}/oauth2/ended`,
        "backchannel.logout.session.required": "true",
      },
      protocolMappers: [
        {
          name: "audience",
          protocol: "openid-connect",
          protocolMapper: "oidc-audience-mapper",
          config: { "included.custom.audience": "pages", "access.token.claim": "true" },
        },
      ],
    },
  ],
  users: [
    {
      ...{ username: "ann", enabled: true, emailVerified: true, email: "ann@acme.example" },
      ...{ firstName: "Ann", lastName: "Example", requiredActions: [] },
      credentials: [{ type: "password", value: "ann-password", temporary: false }],
    },
  ],
})

/** A project with pages for users and one for everybody. */
function projectOf(port: number, issuer: string, pages: string): string {
  return `
gateway test { listen 127.0.0.1:${port}; trust none; limits { shared redis redis_url { wait 5s } } }
secret redis_url = env(REDIS_URL)
secret web_secret = env(WEB_SECRET)
secret key = env(KEY)
issuer corp { discovery "${issuer}/realms/acme"; audience pages }
oidc web {
  issuer corp
  client "web" secret web_secret
  session-keys key
  scope "profile email"
  session redis
  after-logout "/public/bye"
  back-channel-logout "/oauth2/ended"
}
backend pages { url "${pages}" }
api app {
  path "/app"
  backend pages
  auth oidc web { forward access-token }
  inbound { header set "X-User" "\${jwt.preferred_username}" }
  ANY "/{rest*}"
}
api roles {
  path "/roles"
  auth oidc web { claims-from access-token }
  GET "/" { respond 200 { body text "\${jwt.typ} \${jwt.azp}" } }
}
api public { path "/public"; auth none; GET "/bye" { respond 200 { body text "Goodbye." } } }
`
}

/** Pages that show who the user is, and the id of the access token. */
function startPages(): Promise<Upstream> {
  return startUpstream((request, response) => {
    const token = (request.headers.authorization ?? "").split(".")[1] ?? ""
    const { jti = "" } = JSON.parse(Buffer.from(token, "base64url").toString() || "{}") as {
      jti?: string
    }
    response.setHeader("content-type", "text/html")
    response.end(`<h1>Hello ${request.headers["x-user"]}</h1><p id="token">${jti}</p>`)
  })
}

/** Keeps a picture of the page, for people, where `SALLYPORT_TEST_PICTURES` says. */
async function picture(browser: Chromium, name: string): Promise<void> {
  const to = process.env["SALLYPORT_TEST_PICTURES"]
  if (to !== undefined) writeFileSync(join(to, `${name}.png`), await browser.screenshot())
}

/** A user logs in at the page of Keycloak, which is open. */
async function logIn(browser: Chromium): Promise<void> {
  await until(() => browser.evaluate("document.querySelector('#username') !== null"), 300_000)
  await picture(browser, "1-login")
  await browser.evaluate(`
    document.querySelector("#username").value = "ann"
    document.querySelector("#password").value = "ann-password"
    document.querySelector("#kc-login").click()`)
  await browser.shows("Hello ann")
}

const statusIn = (browser: Chromium) =>
  browser.evaluate<number>("fetch('/app/data').then((response) => response.status)")

/** A user logs in, stays for a refresh, and logs out. */
async function walk(browser: Chromium, url: string, upstream: Upstream): Promise<void> {
  await browser.open(`${url}/app/me?a=1`)
  await logIn(browser)
  expect(await browser.url).toBe(`${url}/app/me?a=1`)
  await picture(browser, "2-page")
  // No script sees the cookies, and the backend gets none.
  expect(await browser.evaluate("document.cookie")).toBe("")
  expect(upstream.requests.at(-1)?.headers).not.toHaveProperty("cookie")

  const token = () => browser.evaluate<string>("document.querySelector('#token').textContent")
  const first = await token()
  // Requests of one page at the time when the token is about to expire: Keycloak would end the session if its refresh token were used twice.
  const together = () =>
    browser.evaluate<number[]>(
      "Promise.all(Array.from({ length: 8 }, () => fetch('/app/data').then((response) => response.status)))",
    )
  const statuses = new Set<number>()
  await until(async () => {
    for (const status of await together()) statuses.add(status)
    const last = upstream.requests.at(-1)?.headers.authorization?.split(".")[1] ?? ""
    return (JSON.parse(Buffer.from(last, "base64url").toString()) as { jti: string }).jti !== first
  }, 300_000)
  expect([...statuses]).toEqual([200])
  await browser.open(`${url}/app/again`)
  await until(async () => (await browser.url) === `${url}/app/again`)
  await browser.shows("Hello ann")
  expect(await token()).not.toBe(first)

  await browser.evaluate("location.href = '/oauth2/logout'")
  await browser.shows("Goodbye.")
  expect(await browser.url).toBe(`${url}/public/bye`)
  await picture(browser, "3-goodbye")
  expect(await statusIn(browser)).toBe(401)
  await browser.open(`${url}/app/me`)
  await until(() => browser.evaluate("document.querySelector('#username') !== null"), 300_000)
}

/** An administrator of Keycloak ends all sessions of ann. */
async function endByAdministrator(issuer: string): Promise<void> {
  const form = { grant_type: "password", client_id: "admin-cli", username: keycloakAdmin.name }
  const given = await fetch(`${issuer}/realms/master/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams({ ...form, password: keycloakAdmin.password }),
  })
  const { access_token: token } = (await given.json()) as { access_token: string }
  const headers = { authorization: `Bearer ${token}` }
  const users = `${issuer}/admin/realms/acme/users`
  const [ann] = (await (await fetch(`${users}?username=ann`, { headers })).json()) as [{ id: string }]
  const { status } = await fetch(`${users}/${ann.id}/logout`, { method: "POST", headers })
  expect(status).toBe(204)
}

async function startGateway(
  project: string,
  redisUrl: string,
  finished: (ended: Finished) => void,
): Promise<Gateway> {
  const gateway = newGateway({
    folder: process.cwd(),
    environment: {
      WEB_SECRET: "web-secret",
      KEY: "the key of sessions, with 32 bytes",
      REDIS_URL: redisUrl,
    },
    observer: { finished },
  })
  await gateway.apply(compiled({ "gateway.conf": project }))
  return gateway
}

describe.skipIf(reason !== undefined)(
  `Chromium logs in at a real Keycloak ${keycloakVersion}${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    let folder = ""
    let url = ""
    let keycloak: ChildProcess | undefined
    let gateway: Gateway | undefined
    let upstream: Upstream
    let browser: Chromium
    let redis: ThrowAwayRedis
    let issuer = ""
    const problems: (string | undefined)[] = []
    const causes: (string | undefined)[] = []

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "sallyport-keycloak-"))
      const port = await freePort()
      url = `http://127.0.0.1:${port}`
      const started = await startKeycloak(folder, realmOf(url))
      ;({ keycloak, issuer } = started)
      redis = await startThrowAwayRedis()
      upstream = await startPages()
      gateway = await startGateway(projectOf(port, started.issuer, upstream.url), redis.url, (ended) => {
        problems.push(ended.problem && `${ended.problem}: ${ended.cause}`)
        causes.push(ended.cause)
      })
      browser = await Chromium.start(path ?? "")
    }, keycloakStartMs)

    afterAll(async () => {
      await browser?.close()
      await gateway?.close(0)
      await upstream?.close()
      await redis?.stop()
      if (keycloak?.pid !== undefined) process.kill(-keycloak.pid, "SIGKILL")
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    })

    test("sees the page, is refreshed, and logs out", async () => {
      await walk(browser, url, upstream)
      // Browsers ask for an icon and open connections that they do not use, which are problems of other kinds.
      const failures = problems.filter((each) => /^(?:login-(?!required)|session|issuer)/.test(each ?? ""))
      expect(failures).toEqual([])
    })

    test("has the claims of the access token where a route wants them, and is logged out by an administrator", async () => {
      await browser.open(`${url}/app/me`)
      await logIn(browser)
      const claims = await browser.evaluate<string>("fetch('/roles').then((response) => response.text())")
      expect(claims).toBe("Bearer web")
      expect(await statusIn(browser)).toBe(200)
      await endByAdministrator(issuer)
      await until(() => causes.includes("the provider has ended 1 session"), 300_000)
      expect(await statusIn(browser)).toBe(401)
      await browser.open(`${url}/app/me`)
      await until(() => browser.evaluate("document.querySelector('#username') !== null"), 300_000)
    })
  },
)
