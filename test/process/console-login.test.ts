import { afterAll, beforeAll, expect, it } from "vitest"
import { type IdentityProvider, startIdentityProvider } from "../../runtime/dev/identity-provider.ts"
import type { Runtime } from "../../runtime/process/settings.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, control, freePorts, type Ports, planOf, start, token } from "./project.ts"

/** A browser that keeps cookies of one host, whatever the port, as browsers do. */
class Browser {
  readonly cookies = new Map<string, string>()

  async send(url: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const headers = { ...(init.headers as Record<string, string>), ...(cookie === "" ? {} : { cookie }) }
    const response = await fetch(url, { redirect: "manual", ...init, headers })
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/Max-Age=0(?:;|$)/.test(line)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return response
  }
}

describePostgres("people who sign in to the console at an issuer", () => {
  let provider: IdentityProvider
  let ports: Ports
  let runtime: Runtime
  let drop: () => Promise<void>
  const origin = () => `http://127.0.0.1:${ports.control}`
  const declared = () => `
issuer people { discovery "${provider.issuer}"; audience sallyport }
issuer machines { discovery "${provider.issuer}"; audience orders-api }
control {
  auth jwt people {
    role operator claim "sub" "ann"
    name "preferred_username"
    login "sallyport-cli"
  }
  auth jwt machines { role viewer claim "sub" "vera" }
}`
  const begin = (
    browser: Browser,
    issuer = "people",
    headers: Record<string, string> = { origin: origin() },
  ) =>
    browser.send(`${origin()}/console/login`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ issuer, to: "/console/routes?search=a" }),
    })
  /** Logs in at the provider, and returns the address to which it sends the browser. */
  const logIn = async (browser: Browser, user: string) => {
    const { page } = (await (await begin(browser)).json()) as { page: string }
    const form = new URLSearchParams({ username: user, password: user })
    const sent = await fetch(page, { method: "POST", body: form, redirect: "manual" })
    return String(sent.headers.get("location"))
  }
  const whoami = (browser: Browser) => browser.send(`${origin()}/v1/whoami`)

  beforeAll(async () => {
    provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 })
    const database = await createMigratedDatabase()
    drop = database.drop
    ports = await freePorts()
    runtime = await start(database.url, ports)
    await runtime.apply(planOf(ports, "hello", declared()), author)
  })
  afterAll(async () => {
    await runtime.close()
    await drop()
    await provider.close()
  })

  it("gives a person the role of their token, at the view from which they came, until they sign out", async () => {
    const browser = new Browser()
    const back = await logIn(browser, "ann")
    expect(back).toMatch(/\/console\/login\/people\?.*code=/)
    const done = await browser.send(back)
    expect([done.status, done.headers.get("location")]).toEqual([303, "/console/routes?search=a"])
    expect(done.headers.getSetCookie().join("\n")).toMatch(
      /__Host-sallyport-console\.people=.*Secure; HttpOnly/,
    )
    expect(await (await whoami(browser)).json()).toMatchObject({
      ...{ kind: "person", name: "ann", role: "operator", issuer: "people" },
    })
    // A session changes only what its own page asks for.
    const change = (headers: Record<string, string>) =>
      browser.send(`${origin()}/v1/subscriptions/none/suspend`, { method: "POST", headers })
    expect((await change({})).status).toBe(403)
    expect((await change({ origin: "http://evil.example" })).status).toBe(403)
    expect((await change({ origin: origin() })).status).toBe(404)
    const out = await browser.send(`${origin()}/console/session`, {
      method: "DELETE",
      headers: { origin: origin() },
    })
    expect((await out.json()) as unknown).toEqual({ page: expect.stringContaining("/logout?") })
    expect([...browser.cookies.keys()]).toEqual([])
    expect((await whoami(browser)).status).toBe(401)
  })

  it("writes who signed in to the audit log, by an issuer and by a token", async () => {
    const browser = new Browser()
    await browser.send(await logIn(browser, "ann"))
    await browser.send(`${origin()}/console/session`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: origin() },
      body: JSON.stringify({ token }),
    })
    // The newer session replaces the other.
    expect([...browser.cookies.keys()]).toEqual(["__Host-sallyport"])
    const { body } = await control(ports, "GET", "/v1/audit?limit=1000")
    const rows = (body["rows"] as { entry: string }[]).map(({ entry }) => JSON.parse(entry))
    const signIns = rows.filter(({ action }) => action === "console.sign-in")
    expect(signIns.slice(-2)).toMatchObject([
      {
        event: "signed-in",
        who: { kind: "person", name: "ann", issuer: "people" },
        path: "/console/login/people",
      },
      { event: "signed-in", who: { kind: "shared", name: "control token" }, path: "/console/session" },
    ])
    expect(JSON.stringify(signIns)).not.toContain("code=")
  })

  it("lets nobody in without a role, and says so with a name of its own only", async () => {
    const browser = new Browser()
    const done = await browser.send(await logIn(browser, "bob"))
    expect([done.status, done.headers.get("location")]).toEqual([303, "/console/#failed=forbidden"])
    expect([...browser.cookies.keys()]).toEqual([])
    expect((await whoami(browser)).status).toBe(401)
  })

  it("takes a response only once, and only in the browser that began the login", async () => {
    const browser = new Browser()
    const back = await logIn(browser, "ann")
    const other = await new Browser().send(back)
    expect(other.headers.get("location")).toBe("/console/#failed=login-invalid")
    expect((await browser.send(back)).headers.get("location")).toBe("/console/routes?search=a")
    expect((await browser.send(back)).headers.get("location")).toBe("/console/#failed=login-invalid")
  })

  it("begins a login only from its own page, only at an issuer with a login, only to a page of its own", async () => {
    expect((await begin(new Browser(), "people", {})).status).toBe(403)
    expect((await begin(new Browser(), "people", { origin: "http://evil.example" })).status).toBe(403)
    const unknown = await begin(new Browser(), "machines")
    expect([unknown.status, await unknown.text()]).toEqual([404, expect.stringContaining("`machines`")])
    expect((await new Browser().send(`${origin()}/console/login/machines?code=a&state=b`)).status).toBe(404)
    const elsewhere = await new Browser().send(`${origin()}/console/login`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: origin() },
      body: JSON.stringify({ issuer: "people", to: "//evil.example/" }),
    })
    expect(elsewhere.status).toBe(400)
  })
})
