import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"
import type { Runtime } from "../../runtime/process/settings.ts"
import { folderWith, run } from "../cli/run.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { control, freePorts, type Ports, start, token } from "./project.ts"

describePostgres("apply --remove", () => {
  let ports: Ports
  let runtime: Runtime
  let drop: () => Promise<void>
  let cwd: string
  const text = (answer: string) => `
gateway test { listen 127.0.0.1:${ports.gateway}; trust none }
authz { listen 127.0.0.1:${ports.authz}; store acme { model "acme.fga" } }
api hello { path "/hello"; auth subscription; GET "/" { respond ${answer} } }
`
  const model = "model\n  schema 1.1\ntype user\n"
  const folder = (answer: string) => folderWith({ "gateway.conf": text(answer), "acme.fga": model })
  const env = (own: string) => ({
    SALLYPORT_CONTROL_URL: `http://127.0.0.1:${ports.control}`,
    SALLYPORT_CONTROL_TOKEN: own,
  })
  const as = (own: string, ...words: string[]) => run({ cwd, env: env(own) }, ...words)
  const sallyport = (...words: string[]) => as(token, ...words)
  const made = async () => {
    const [subscriptions, tokens, stores] = await Promise.all(
      ["/v1/subscriptions", "/v1/tokens", "/authz/stores"].map((path) => control(ports, "GET", path)),
    )
    const names = (found: unknown) => (found as { name: string }[]).map(({ name }) => name)
    return [
      names(subscriptions?.body["subscriptions"]),
      names(tokens?.body["tokens"]),
      names(stores?.body["stores"]),
    ]
  }

  beforeAll(async () => {
    const database = await createMigratedDatabase()
    drop = database.drop
    ports = await freePorts()
    runtime = await start(database.url, ports, { graceMs: 100 })
  })
  beforeEach(() => {
    cwd = folder("200")
  })
  afterAll(async () => {
    await runtime.close()
    await drop()
  })

  it("deletes only the kinds that it names, after the plan is applied, and never without it", async () => {
    expect(await sallyport("apply", "--yes")).toMatchObject({ code: 0 })
    for (const name of ["one", "two"])
      expect(await control(ports, "POST", "/v1/subscriptions", { name, scope: { all: true } })).toMatchObject(
        {
          status: 201,
        },
      )
    const expiresAt = "2100-01-01T00:00:00Z"
    const ci = await control(ports, "POST", "/v1/tokens", { name: "ci", role: "admin", expiresAt })
    await control(ports, "POST", "/v1/tokens", { name: "viewer", role: "viewer", expiresAt })
    expect((await control(ports, "POST", "/authz/stores", { name: "by hand" })).status).toBe(201)
    const all = await made()
    expect(all).toEqual([
      ["one", "two"],
      ["ci", "viewer"],
      ["acme", "by hand"],
    ])

    cwd = folder("201")
    const planned = await sallyport("plan", "--remove", "subscriptions,stores")
    expect(planned.out).toContain(`
\`apply --remove\` deletes, with everything in it:
  subscriptions  one, two
  stores         by hand
`)
    const json = await sallyport("plan", "--json", "--remove", "subscriptions")
    expect([JSON.parse(json.out).length, json.err]).toEqual([1, expect.stringContaining("one, two")])
    expect(await made()).toEqual(all)

    expect(await sallyport("apply", "--yes")).toMatchObject({ code: 0 })
    expect(await made()).toEqual(all)
    cwd = folder("202")
    const applied = await sallyport("apply", "--yes", "--remove", "subscriptions,stores")
    expect(applied).toMatchObject({
      code: 0,
      out: expect.stringContaining("\nRemoved subscription one, subscription two, store by hand.\n"),
    })
    expect(await made()).toEqual([[], ["ci", "viewer"], ["acme"]])
    // The token that the command uses stays.
    const own = String(ci.body["secret"])
    expect(await as(own, "apply", "--yes", "--remove", "tokens")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/has the same content\.\n[\s\S]*\nRemoved token viewer\.\n$/),
    })
    expect(await made()).toEqual([[], ["ci"], ["acme"]])
    expect((await as(own, "apply", "--yes", "--remove", "tokens")).out).toContain("deletes nothing")
  })

  it("changes nothing when the caller may not see what it names", async () => {
    expect(await sallyport("apply", "--yes")).toMatchObject({ code: 0 })
    const expiresAt = "2100-01-01T00:00:00Z"
    const made = await control(ports, "POST", "/v1/tokens", { name: "deploy", role: "publisher", expiresAt })
    cwd = folder("203")
    expect(await as(String(made.body["secret"]), "apply", "--yes", "--remove", "tokens")).toMatchObject({
      code: 3,
      err: expect.stringContaining("nothing was changed: this caller may not list tokens"),
    })
    expect((await sallyport("plan")).code).toBe(2)
  })
})
