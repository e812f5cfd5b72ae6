import { afterEach, expect, it } from "vitest"
import { describePostgres } from "../postgres.ts"
import { canaries, PortalBrowser, startPortal } from "./portal-project.ts"
import { control } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

describePostgres("the developer portal", () => {
  it("shows what the plan publishes, and nothing else", async () => {
    const { url } = await startPortal(stops)
    const visitor = new PortalBrowser(url)
    const about = await visitor.get("/api/portal")
    expect(about.json).toMatchObject({
      ...{ title: "Acme for developers", logo: "/api/assets/logo.svg", texts: { "nav.apis": "Our APIs" } },
      pages: [{ slug: "start", title: "Getting started" }],
      ...{ signIn: { login: "/oauth2/login", logout: "/oauth2/logout" }, person: null, canSubscribe: true },
    })
    const { apis } = (await visitor.get("/api/apis")).json
    expect(apis).toMatchObject([
      {
        name: "orders",
        versions: [
          {
            version: "v1",
            path: "/v1/orders",
            lifecycle: { deprecated: "2026-01-31", sunset: "2099-06-30", successor: "v2" },
          },
          { version: "v2", title: "Orders", operations: 3, lifecycle: null },
        ],
        products: ["open", "checked"],
      },
    ])
    const { list } = (await visitor.get("/api/apis/orders/v2")).json
    expect(list.map(({ id }: { id: string }) => id)).toEqual(["listOrders", "getOrder", "putOrder"])
    const put = (await visitor.get("/api/apis/orders/v2/operations/putOrder")).json
    expect(put).toMatchObject({ path: "/v2/orders/{id}", schemas: { Order: { type: "object" } } })
    expect(Object.keys(put.schemas)).toEqual(["Order"])
    expect(put.request).toMatchObject({ method: "PUT", url: "/v2/orders/7" })
    expect(put.request.headers).toContainEqual(["x-api-key", "YOUR_KEY"])
    expect(put.examples.curl).toContain(`it'\\''s`)
    const whole = [
      ...["/api/portal", "/api/apis", "/api/products", "/api/apis/orders/v1", "/api/apis/orders/v2"],
      ...["v1", "v2"].map((version) => `/api/apis/orders/${version}/openapi.json`),
      ...["listOrders", "getOrder", "putOrder"].map((id) => `/api/apis/orders/v2/operations/${id}`),
      ...["/api/pages/start", "/api/assets/logo.svg", "/api/assets/style.css", "/api/apis/canaryhidden/-"],
    ]
    for (const path of whole) {
      const { body, status } = await visitor.get(path)
      expect([path, status]).toEqual([path, path.includes("canary") ? 404 : 200])
      for (const canary of canaries) expect(body.toLowerCase()).not.toContain(canary)
    }
  })

  it("serves Swagger UI for published versions only, under the policy of all pages", async () => {
    const { url } = await startPortal(stops)
    const visitor = new PortalBrowser(url)
    const [own, page] = [await visitor.get("/"), await visitor.get("/swagger/orders/v2")]
    expect(page).toMatchObject({ status: 200, headers: { "content-type": "text/html; charset=utf-8" } })
    const policy = page.headers["content-security-policy"]
    expect(policy).toBe(own.headers["content-security-policy"])
    expect(policy).toContain("script-src 'self'; style-src 'self'; img-src 'self' data:;")
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'")
    const files = [...page.body.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, file]) => file ?? "")
    expect(files).toEqual([
      expect.stringMatching(/^\/swagger\/style-\w+\.css$/),
      expect.stringMatching(/^\/swagger\/app-\w+\.js$/),
    ])
    for (const file of files)
      expect(await visitor.get(file)).toMatchObject({
        status: 200,
        headers: { "cache-control": "public, max-age=31536000, immutable" },
      })
    for (const path of [
      "/swagger/none/v1",
      "/swagger/orders/v3",
      "/swagger/orders/-",
      "/swagger/canaryhidden/-",
    ])
      expect(await visitor.get(path)).toMatchObject({ status: 404, body: own.body })
    expect(await visitor.get("/swagger/none.js")).toMatchObject({ status: 404, problem: "not-found" })
    expect(await visitor.get("/swagger/orders")).toMatchObject({ status: 200, body: own.body })
  })

  it("lets people subscribe, see and change their own subscriptions only", async () => {
    const { url, ports } = await startPortal(stops)
    const [ann, bob] = [new PortalBrowser(url), new PortalBrowser(url)]
    expect(await ann.get("/api/subscriptions")).toMatchObject({ status: 401, problem: "unauthenticated" })
    await Promise.all([ann.signIn("ann"), bob.signIn("bob")])
    expect((await ann.get("/api/portal")).json.person).toMatchObject({ owner: "ann" })

    const made = await ann.post("/api/subscriptions", { product: "open", label: "my app" })
    expect(made).toMatchObject({ status: 201, headers: { "cache-control": "no-store" } })
    const { subscription, keys } = made.json
    expect(subscription).toMatchObject({
      product: "open",
      label: "my app",
      state: "active",
      may: ["rotate", "suspend", "cancel"],
    })
    const call = async (key: string) =>
      (await fetch(`http://127.0.0.1:${ports.gateway}/v2/orders`, { headers: { "x-api-key": key } })).status
    expect(await call(keys.primary)).toBe(200)

    const own = `/api/subscriptions/${subscription.name}`
    expect((await ann.get("/api/subscriptions")).body).not.toContain(keys.primary)
    expect((await bob.get("/api/subscriptions")).json).toEqual({ subscriptions: [] })
    for (const refused of [
      await bob.get(own),
      await bob.post(`${own}/rotate`, { key: "primary" }),
      await bob.post(`${own}/suspend`, {}),
    ])
      expect(refused).toMatchObject({ status: 404, problem: "not-found" })

    const rotated = await ann.post(`${own}/rotate`, { key: "primary" })
    expect(rotated.json.keys).toEqual({ primary: expect.stringMatching(/^sp_/) })
    expect(await call(keys.primary)).toBe(401)
    expect(await call(rotated.json.keys.primary)).toBe(200)
    expect((await ann.post(`${own}/suspend`, {})).json).toMatchObject({
      state: "suspended",
      may: ["rotate", "cancel"],
    })
    expect(await call(rotated.json.keys.primary)).toBe(401)
    expect(await ann.post(`${own}/suspend`, {})).toMatchObject({ status: 409 })
    expect(await ann.post(`${own}/activate`, {})).toMatchObject({ status: 404 })

    const { rows } = (await control(ports, "GET", "/v1/audit?limit=500")).body as {
      rows: { entry: string }[]
    }
    const entries = rows.map(({ entry }) => JSON.parse(entry)).filter(({ via }) => via === "portal")
    expect(entries[0]).toMatchObject({
      ...{ action: "subscription.create", event: "requested" },
      ...{
        who: { kind: "developer", name: "ann", issuer: "acme" },
        details: { product: "open", label: "my app" },
      },
    })
    expect(entries.map(({ action, event }) => `${action} ${event}`)).toContain("subscription.rotate ended")
    expect(JSON.stringify(entries)).not.toContain(keys.primary)
  })

  it("offers products as they say, and reports calls, limits and errors of a subscription", async () => {
    const { url, ports } = await startPortal(stops)
    const [ann, bob] = [new PortalBrowser(url), new PortalBrowser(url)]
    await Promise.all([ann.signIn("ann"), bob.signIn("bob")])
    const waiting = await ann.post("/api/subscriptions", { product: "checked" })
    expect(waiting.json.subscription).toMatchObject({ state: "submitted", product: "checked" })
    for (const product of ["canarystaff", "none"])
      expect(await ann.post("/api/subscriptions", { product })).toMatchObject({
        status: 422,
        problem: "refused",
      })
    expect(await ann.post("/api/subscriptions", { product: "open" })).toMatchObject({ status: 201 })

    const { subscription, keys } = (await ann.post("/api/subscriptions", { product: "open" })).json
    expect(await ann.post("/api/subscriptions", { product: "open" })).toMatchObject({ status: 409 })
    const call = (path: string) =>
      fetch(`http://127.0.0.1:${ports.gateway}${path}`, { headers: { "x-api-key": keys.primary } })
    for (const status of [200, 200, 200, 429]) expect((await call("/v2/orders")).status).toBe(status)
    const own = `/api/subscriptions/${subscription.name}`
    await expect.poll(async () => (await ann.get(`${own}/usage`)).json.total.calls).toBe(4)
    const usage = (await ann.get(`${own}/usage`)).json
    expect(usage.days).toHaveLength(30)
    expect(usage.days.at(-1)).toMatchObject({
      calls: 4,
      failed: 1,
      billed: 3,
      cost: [{ amount: "0.006", currency: "EUR" }],
    })
    expect(usage.operations).toEqual([
      { api: "orders", version: "v2", operation: "GET /", calls: 4, failed: 1 },
    ])
    expect((await ann.get(`${own}/usage?from=2026-02-01&to=2026-01-01`)).status).toBe(400)
    expect((await ann.get(`${own}/limits`)).json).toMatchObject({
      limits: [
        {
          calls: 3,
          seconds: 3600,
          where: [
            { api: "orders", version: "v1" },
            { api: "orders", version: "v2" },
          ],
        },
      ],
      quotas: [{ calls: 1000, used: { calls: expect.any(Number) }, endsAt: expect.any(String) }],
    })
    expect((await ann.get(`${own}/errors`)).json.errors).toMatchObject([
      {
        status: 429,
        path: "/v2/orders",
        problem: "rate-limited",
        reason: expect.stringMatching(/^Too many calls/),
      },
    ])
    for (const what of ["usage", "limits", "errors"])
      expect((await bob.get(`${own}/${what}`)).status).toBe(404)
  })

  it("tells what plans changed for callers, and nothing of what is not published", async () => {
    const { url, apply } = await startPortal(stops)
    const bob = new PortalBrowser(url)
    await apply("auth oidc login", "  /new: { post: { responses: { '201': { description: ok } } } }")
    await apply("auth oidc login")
    const { ends, entries } = (await bob.get("/api/changelog")).json
    const lifecycle = { deprecated: "2026-01-31", sunset: "2099-06-30", closes: false, successor: "v2" }
    expect(ends).toEqual([{ api: "orders", version: "v1", lifecycle }])
    expect(entries).toMatchObject([
      {
        notes: [
          {
            kind: "breaking",
            api: "orders",
            version: "v2",
            operation: "POST /new",
            text: "POST /new was removed",
          },
        ],
      },
      { notes: [{ kind: "added", operation: "POST /new" }] },
    ])
    expect((await bob.get("/api/changelog?api=canaryhidden")).json).toEqual({ ends: [], entries: [] })
  })

  it("says that a login failed without its cause, and slows an address that asks too often", async () => {
    const { url } = await startPortal(stops)
    const bob = new PortalBrowser(url)
    const begun = await bob.browser.visit(`${url}/oauth2/login`)
    const state = new URL(begun.headers.location ?? "").searchParams.get("state") ?? ""
    const secret = "canary: the account is locked"
    const words = new URLSearchParams({ state, error: "access_denied", error_description: secret })
    const refused = await bob.browser.visit(`${url}/oauth2/callback?${words}`)
    expect(refused).toMatchObject({
      status: 403,
      body: expect.stringContaining("The identity provider did not let you in."),
    })
    expect(refused.body).not.toContain("canary")
    expect(await bob.browser.visit(`${url}/oauth2/callback?state=of-nobody&code=x`)).toMatchObject({
      status: 400,
      body: expect.stringContaining("began in another browser"),
    })
    expect(await bob.get("/api/subscriptions")).toMatchObject({ status: 401 })
    // 600 at once, and 20 a second after that.
    let last = await fetch(`${url}/api/portal`)
    for (let sent = 0; last.status !== 429 && sent < 5_000; sent += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(`${url}/api/portal`)))
      await Promise.all(answers.map((each) => each.arrayBuffer()))
      last = answers.find(({ status }) => status === 429) ?? last
    }
    expect([last.status, Number(last.headers.get("retry-after"))]).toEqual([429, 1])
  })

  it("refuses changes that no page of it sent, other hosts, and bodies that are not JSON", async () => {
    const { url } = await startPortal(stops)
    const ann = new PortalBrowser(url)
    await ann.signIn("ann")
    const body = { product: "open" }
    expect(await ann.post("/api/subscriptions", body, { origin: "http://evil.example" })).toMatchObject({
      problem: "cross-origin",
    })
    expect(await ann.post("/api/subscriptions", body, { "sec-fetch-site": "same-site" })).toMatchObject({
      problem: "cross-origin",
    })
    expect(await ann.post("/api/subscriptions", body, { "content-type": "text/plain" })).toMatchObject({
      status: 415,
    })
    expect(await ann.post("/api/subscriptions", "{")).toMatchObject({ status: 400 })
    expect(await ann.post("/api/subscriptions", { ...body, state: "active" })).toMatchObject({ status: 400 })
    expect(await ann.browser.fetch(`${url}/api/portal`, { host: "evil.example" })).toMatchObject({
      status: 421,
    })
    const form = { "content-type": "application/x-www-form-urlencoded" }
    expect(await ann.post("/oauth2/logout", "", { ...form, origin: "http://evil.example" })).toMatchObject({
      problem: "cross-origin",
    })
    expect((await ann.get("/api/subscriptions")).status).toBe(200)
    const cookies = ann.browser.named(new URL(url).host, "__Host-sallyport-")
    expect(cookies).toEqual(["__Host-sallyport-login~portal"])
    const { headers } = await ann.get("/api/apis")
    expect(headers).toMatchObject({
      ...{ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" },
      "content-security-policy": expect.stringMatching(
        /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/,
      ),
    })
    expect(headers["access-control-allow-origin"]).toBeUndefined()
    const out = await ann.browser.send("POST", `${url}/oauth2/logout`, { ...form, origin: url }, "")
    expect(out.status).toBe(303)
    expect((await ann.get("/api/subscriptions")).status).toBe(401)
  })

  it("lets its pages call the published APIs with `try-it`, and no other site", async () => {
    const { url, ports } = await startPortal(stops, "auth oidc login; try-it")
    const ask = async (path: string, origin: string) => {
      const headers = {
        origin,
        "access-control-request-method": "PUT",
        "access-control-request-headers": "x-api-key",
      }
      const found = await fetch(`http://127.0.0.1:${ports.gateway}${path}`, { method: "OPTIONS", headers })
      return found.headers.get("access-control-allow-origin")
    }
    expect(await ask("/v2/orders/7", url)).toBe(url)
    expect(await ask("/v2/orders/7", "https://evil.example")).toBeNull()
    expect(await ask("/canaryhidden/canarystaff", url)).toBeNull()
    const refused = await fetch(`http://127.0.0.1:${ports.gateway}/v2/orders`, { headers: { origin: url } })
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([401, url])
    expect(refused.headers.get("access-control-allow-credentials")).toBeNull()
    const visitor = new PortalBrowser(url)
    const about = await visitor.get("/api/portal")
    expect(about.json).toMatchObject({ tryIt: true, gateway: `http://127.0.0.1:${ports.gateway}` })
    expect(about.headers["content-security-policy"]).toContain(
      `connect-src 'self' http://127.0.0.1:${ports.gateway};`,
    )
  })

  it("can be read without sign-in, follows plans, and closes with the last one", async () => {
    const { url, apply, runtime } = await startPortal(stops, "")
    const visitor = new PortalBrowser(url)
    expect((await visitor.get("/api/portal")).json).toMatchObject({ signIn: null, canSubscribe: false })
    expect(await visitor.get("/api/subscriptions")).toMatchObject({ status: 404, problem: "no-sign-in" })
    expect((await visitor.get("/oauth2/login")).headers.location).toBeUndefined()
    await apply("auth oidc login")
    expect((await visitor.get("/api/portal")).json.signIn).not.toBeNull()
    expect(runtime.portalAddresses?.()).toEqual([new URL(url).host])
  })
})
