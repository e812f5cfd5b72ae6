import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { routeRules } from "../../runtime/control/routes.ts"
import { type IdentityProvider, startIdentityProvider } from "../../runtime/dev/identity-provider.ts"
import { controlRoles, includesRole } from "../../runtime/plan/control.ts"
import type { Runtime } from "../../runtime/process/settings.ts"
import { folderWith, run } from "../cli/run.ts"
import { eventually, startForTest } from "../e2e/sallyport-process.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, control, freePorts, type Ports, planOf, start, token } from "./project.ts"

/** What a request needs, and one that has no effect even where it is allowed. */
const engineRoutes = [
  ["GET", "/authz/stores", "viewer"],
  ["POST", "/authz/stores/none/check", "viewer"],
  ["POST", "/authz/stores/none/write", "operator"],
  ["POST", "/authz/stores/none/authorization-models", "operator"],
  ["DELETE", "/authz/stores/none", "operator"],
  ["PUT", "/authz/stores/none/assertions/a", "operator"],
] as const

describePostgres("operators and their roles", () => {
  let provider: IdentityProvider
  let ports: Ports
  let runtime: Runtime
  let drop: () => Promise<void>

  const declared = (more = "") => `
issuer staff { discovery "${provider.issuer}/.well-known/openid-configuration"; audience orders-api }
issuer people { discovery "${provider.issuer}"; audience sallyport }
control {
  auth jwt people {
    role admin claim "sub" "ann"
    role viewer claim "sub" "bob"
    name "preferred_username"
    login "sallyport-cli" scope "openid"
  }
  auth jwt staff {
    role admin claim "groups" "platform"
    role publisher claim "realm.roles" "developer"
    role operator claim "scope" "operate"
    role viewer claim "sub" "vera"
    name "preferred_username"
  }
  ${more}
}`
  const claims = {
    admin: { groups: ["all", "platform"] },
    publisher: { realm: { roles: ["developer"] } },
    operator: { scope: "openid operate" },
    viewer: { sub: "vera" },
  } as const
  const bearer = async (role: keyof typeof claims, more: Record<string, unknown> = {}) =>
    `Bearer ${await provider.token("someone", { preferred_username: `${role}-ann`, scope: "openid", ...claims[role], ...more })}`

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

  it("admits each role to exactly the routes of the table", async () => {
    const rows = [
      ...Object.entries(routeRules).map(
        ([key, { needs }]) => [...key.split(" "), needs] as [string, string, string],
      ),
      ...engineRoutes,
    ]
    const tokens = new Map(
      await Promise.all(controlRoles.map(async (role) => [role, await bearer(role)] as const)),
    )
    for (const [method, route, needs] of rows) {
      // A stream of events would not end.
      const path = route.replace(/:\w+/g, "none").replace("/v1/events", "/v1/events?topics=none")
      const body = ["GET", "DELETE"].includes(method) ? undefined : "[]"
      const statusOf = async (credential: string) =>
        (await control(ports, method, path, body, credential)).status
      for (const role of controlRoles) {
        const status = await statusOf(tokens.get(role) ?? "")
        const isAllowed = needs === "open" || needs === "any" || includesRole(role, needs as typeof role)
        if (isAllowed) expect([401, 403, 429], `${role} ${method} ${path}`).not.toContain(status)
        else expect(status, `${role} ${method} ${path}`).toBe(403)
      }
      const anonymous = await fetch(`http://127.0.0.1:${ports.control}${path}`, { method })
      expect(anonymous.status === 401, `anonymous ${method} ${path}`).toBe(needs !== "open")
    }
  })

  it("says who calls, and refuses tokens without a name, a role or its audience", async () => {
    const who = await control(ports, "GET", "/v1/whoami", undefined, await bearer("publisher"))
    expect(who.body).toMatchObject({
      kind: "person",
      name: "publisher-ann",
      role: "publisher",
      issuer: "staff",
    })
    const asked = async (more: Record<string, unknown>) =>
      control(ports, "GET", "/v1/status", undefined, await bearer("admin", more))
    expect(await asked({ aud: "other" })).toMatchObject({ status: 401 })
    expect((await asked({ preferred_username: "" })).body["detail"]).toContain(
      "no claim `preferred_username`",
    )
    const none = await asked({ groups: ["all"] })
    expect(none).toMatchObject({
      status: 403,
      body: { detail: "the token of `admin-ann` has no role for the control API" },
    })
  })

  it("lets publishers apply plans under their names, but only admins change who operates", async () => {
    const [{ serial, stamp }] = (await control(ports, "GET", "/v1/plans?limit=1")).body["plans"] as [
      { serial: number; stamp: string },
    ]
    const put = async (text: string, role: "publisher" | "admin", base: number, baseStamp?: string) => {
      const plan = planOf(ports, "hello", text)
      return control(
        ports,
        "PUT",
        "/v1/plan",
        { plan, base, baseStamp, author: { ...author, who: "somebody else" } },
        await bearer(role),
      )
    }
    const plain = await put(`${declared()}\nvalue unused = "x"`, "publisher", serial, stamp)
    expect(plain.status).toBe(200)
    const other = await put(declared("shared-token off"), "publisher", serial, stamp)
    expect(other.status).toBe(403)
    const admins = await put(declared("shared-token off"), "admin", serial, stamp)
    expect(admins).toMatchObject({ status: 200, body: { record: { who: "admin-ann" } } })
    const refused = await control(ports, "GET", "/v1/status")
    expect(refused).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining("`shared-token off`") },
    })
    await runtime.apply(planOf(ports, "hello", declared()), author)
    expect((await control(ports, "GET", "/v1/status")).status).toBe(200)
  })

  it("makes tokens for machines, shows them once, and refuses them when they are revoked", async () => {
    const env = { SALLYPORT_CONTROL_URL: `http://127.0.0.1:${ports.control}`, SALLYPORT_CONTROL_TOKEN: token }
    const sallyport = (...words: string[]) => run({ cwd: "/", env }, ...words)
    const made = await sallyport("control-token", "create", "ci", "--role", "operator", "--expires", "1h")
    const secret = made.out.trim()
    expect(secret).toMatch(/^spt_\w{49}$/)
    const asCi = (method: string, path: string, body?: unknown) =>
      control(ports, method, path, body, `Bearer ${secret}`)
    expect((await asCi("GET", "/v1/whoami")).body).toMatchObject({
      kind: "token",
      name: "ci",
      role: "operator",
    })
    expect((await asCi("POST", "/v1/tokens", {})).status).toBe(403)
    const listed = await sallyport("control-token", "list")
    expect(listed.out).toMatch(
      /^ci\s+operator\s+all of its role\s+spt_\w{8}…\s+control token\s+\S+\s+\d{4}-/m,
    )
    expect(listed.out).not.toContain(secret)
    expect((await sallyport("control-token", "create", "ci", "--role", "viewer")).err).toContain(
      "already a token `ci`",
    )
    expect((await sallyport("control-token", "revoke", "ci")).code).toBe(0)
    expect((await asCi("GET", "/v1/whoami")).status).toBe(401)
    const past = { name: "old", role: "viewer", expiresAt: "2020-01-01T00:00:00Z" }
    expect((await control(ports, "POST", "/v1/tokens", past)).status).toBe(422)
    expect((await sallyport("whoami")).out).toContain("the shared control token")
  })

  it("limits tokens to operations, and to what their maker may do", async () => {
    const make = async (body: object, credential?: string) =>
      control(ports, "POST", "/v1/tokens", { expiresAt: "2100-01-01T00:00:00Z", ...body }, credential)
    const made = await make({ name: "deploy", may: ["plan", "status"] })
    expect(made).toMatchObject({
      status: 201,
      body: { token: { role: "publisher", may: ["plan", "status"] } },
    })
    const bearer = `Bearer ${made.body["secret"]}`
    for (const [key, { needs, operation = "" }] of Object.entries(routeRules)) {
      const [method = "", route = ""] = key.split(" ")
      const body = ["GET", "DELETE"].includes(method) ? undefined : "[]"
      const answer = await control(ports, method, route.replace(/:\w+/g, "none"), body, bearer)
      const isCovered =
        ["open", "any"].includes(needs) ||
        operation === "status" ||
        (needs !== "admin" && operation.startsWith("plan."))
      expect(answer.status === 403, key).toBe(!isCovered)
    }
    expect((await control(ports, "GET", "/v1/usage", undefined, bearer)).body["detail"]).toBe(
      "this is `usage`, and the token `deploy` may only do: plan, status",
    )
    expect((await control(ports, "GET", "/authz/stores", undefined, bearer)).status).toBe(403)
    expect((await control(ports, "GET", "/v1/whoami", undefined, bearer)).body).toMatchObject({
      may: ["plan", "status"],
    })
    const refused = async (body: object, credential?: string) => {
      const { status, body: answer } = await make({ name: "other", ...body }, credential)
      return `${status} ${answer["detail"]}`
    }
    expect(await refused({})).toBe("422 a token needs `role`, `may` or both")
    expect(await refused({ may: ["plan.burn"] })).toMatch(
      /^422 there is no operation `plan\.burn`; the operations .* plan, plan\.apply,/,
    )
    expect(await refused({ role: "viewer", may: ["prune"] })).toBe(
      "422 `prune` needs the role `admin`, and the token would have `viewer`",
    )
    const factory = await make({
      name: "factory",
      may: ["token", "plan.read"],
      expiresAt: "2090-01-01T00:00:00Z",
    })
    const maker = `Bearer ${factory.body["secret"]}`
    const soon = { expiresAt: "2089-01-01T00:00:00Z" }
    const more = "403 `factory` may only do token, plan.read, and cannot give more than that"
    expect(await refused({ role: "viewer", ...soon }, maker)).toBe(more)
    expect(await refused({ may: ["plan"], ...soon }, maker)).toBe(more)
    expect(await refused({ may: ["plan.read"] }, maker)).toMatch(/^403 `factory` ends before `expiresAt`/)
    expect((await make({ name: "other", may: ["plan.read", "token.read"], ...soon }, maker)).status).toBe(201)
  })

  it("logs people in by the code of a device, and refreshes once for commands that run together", async () => {
    const folder = folderWith({})
    const env = { SALLYPORT_CONTROL_URL: `http://127.0.0.1:${ports.control}`, XDG_CONFIG_HOME: folder }
    const logIn = async (user: string) => {
      const login = startForTest(folder, env, "login")
      const code = await eventually(async () => /^ {4}(\S{4}-\S{4})$/m.exec(login.output.err)?.[1])
      const body = new URLSearchParams({ user_code: code, username: user, password: user })
      await fetch(`${provider.issuer}/device`, { method: "POST", body })
      return [await login.exited, login.output.out]
    }
    const text = (role: string, user: string) =>
      `Logged in at http://127.0.0.1:${ports.control} as \`${user}\`, with the role \`${role}\`.\n`
    expect(await logIn("bob")).toEqual([0, text("viewer", "bob")])
    const sallyport = (...words: string[]) => run({ cwd: folder, env }, ...words)
    expect((await sallyport("prune", "--plans", "5")).err).toContain(
      "this needs the role `admin`, and `bob` has `viewer`",
    )
    expect(await logIn("ann")).toEqual([0, text("admin", "ann")])
    const logins = join(folder, "sallyport/logins")
    const file = join(logins, readdirSync(logins)[0] ?? "", "login.json")
    const stored = JSON.parse(readFileSync(file, "utf8")) as object
    const past = { obtainedAt: "2026-01-01T00:00:00.000Z", expiresAt: "2026-01-01T01:00:00.000Z" }
    writeFileSync(file, JSON.stringify({ ...stored, ...past }))
    // The provider ends a login whose refresh token is used twice.
    const together = [1, 2, 3, 4].map(() => startForTest(folder, env, "whoami"))
    for (const { exited, output } of together) {
      expect([await exited, output.err]).toEqual([0, ""])
      expect(output.out).toContain("`ann` of the issuer `people`")
    }
    expect((await sallyport("logout")).code).toBe(0)
    expect((await sallyport("status")).err).toContain("there is no login at this URL")
  })

  it("refuses pages of other origins, and slows guesses but not those who know a credential", async () => {
    const ask = (headers: Record<string, string>) =>
      fetch(`http://127.0.0.1:${ports.control}/v1/status`, { headers })
    const known = { authorization: `Bearer ${token}` }
    expect((await ask({ ...known, origin: "https://evil.example" })).status).toBe(403)
    expect((await ask({ ...known, "sec-fetch-site": "cross-site" })).status).toBe(403)
    expect((await ask({ ...known, origin: `http://127.0.0.1:${ports.control}` })).status).toBe(200)
    const statuses: number[] = []
    for (let at = 0; at < 12; at += 1)
      statuses.push((await ask({ authorization: "Bearer wrong-wrong-wrong" })).status)
    expect(statuses).toContain(401)
    expect(statuses.at(-1)).toBe(429)
    const slowed = await ask(known)
    expect([slowed.status, Number(slowed.headers.get("retry-after"))]).toEqual([429, expect.any(Number)])
    const metrics = await (await fetch(`http://127.0.0.1:${ports.control}/metrics`)).text()
    expect(metrics).toMatch(/sallyport_control_refused_total\{reason="too-many-attempts"\} \d/)
  })
})
