import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { reviewPlans } from "../../compiler/cli/review-plans.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { type IdentityProvider, startIdentityProvider } from "../../runtime/dev/identity-provider.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import type { SealedPlan } from "../../runtime/plan/seal.ts"
import type { Runtime } from "../../runtime/process/settings.ts"
import { folderWith, run } from "../cli/run.ts"
import { compile } from "../compile.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, control, freePorts, type Ports, start, token } from "./project.ts"

const rules = `
  opens needs "security" by another
  closes above 50% needs consent
  breaking needs "admin"`

describePostgres("consent to changes", () => {
  let provider: IdentityProvider
  let ports: Ports
  let runtime: Runtime
  let url: string
  let drop: () => Promise<void>
  let cwd: string

  /** The claim of `/shop` and the others can be left out. */
  const text = (change = rules, claim = "", others = 'claim tier is "gold"') => `
gateway test { listen 127.0.0.1:${ports.gateway}; trust none }
issuer staff { discovery "${provider.issuer}/.well-known/openid-configuration"; audience orders-api }
control {
  auth jwt staff {
    role admin     claim "groups" "platform"
    role publisher claim "groups" "developers"
    role viewer
    group "security" claim "groups" "sec-team"
    name "preferred_username"
  }
}
${change === "" ? "" : `change {${change}\n}`}
api shop { path "/shop"; auth jwt staff { ${claim} }; GET "/" { respond 200 } }
${["a", "b"].map((name) => `api ${name} { path "/${name}"; auth jwt staff { ${others} }; GET "/" { respond 200 } }`).join("\n")}
`
  const withClaim = (change?: string) => text(change, 'claim tier is "gold"')
  const bearer = (name: string, ...groups: string[]) =>
    provider.token("someone", { preferred_username: name, groups })
  const withToken = (secret: string) => {
    const env = {
      SALLYPORT_CONTROL_URL: `http://127.0.0.1:${ports.control}`,
      SALLYPORT_CONTROL_TOKEN: secret,
    }
    return (...words: string[]) => run({ cwd, env }, ...words)
  }
  const as = async (name: string, ...groups: string[]) => withToken(await bearer(name, ...groups))
  const write = (content: string) => writeFileSync(join(cwd, "gateway.conf"), content)
  const compiled = (content: string): Plan =>
    compile(new MemoryFiles([["gateway.conf", content]]), "gateway.conf").plan as Plan
  /** Makes a plan the running one, without the control API. */
  const running = async (content: string) => {
    expect(await runtime.apply(compiled(content), author)).toMatchObject({ kind: "done" })
  }
  const newest = async () =>
    ((await control(ports, "GET", "/v1/plans?limit=1")).body["plans"] as { serial: number; who: string }[])[0]

  /** The rows of consents in the audit log. */
  const consentRows = async () => {
    const { body } = await control(ports, "GET", "/v1/audit?limit=1000")
    const rows = (body["rows"] as { entry: string }[]).map(({ entry }) => JSON.parse(entry))
    return rows.filter(({ action, event }) => action === "plan.consent" && event === "requested")
  }

  beforeAll(async () => {
    provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 })
    const database = await createMigratedDatabase()
    ;({ drop, url } = database)
    ports = await freePorts()
    runtime = await start(url, ports, { reviewPlans })
  })
  afterAll(async () => {
    await runtime.close()
    await drop()
    await provider.close()
  })

  it("a dropped claim needs that of security, and of somebody else than who applies", async () => {
    cwd = folderWith({})
    await running(withClaim())
    const ann = await as("ann", "developers", "sec-team")
    write(text())
    expect(await ann("plan", "--out", "next.json")).toMatchObject({ code: 2 })
    const alone = await ann("apply", "next.json", "--yes")
    expect(alone).toMatchObject({
      code: 3,
      err: expect.stringContaining('opens needs "security" by another'),
    })
    expect(alone.err).toMatch(/api shop: .*tier.*\nhelp: If you may consent/s)
    // An admin is not security, and is told at once.
    const root = await as("root", "platform")
    const useless = await root("consent", "next.json", "--allow", "opens", "--yes")
    expect(useless.err).toContain(
      'the consent of `root` would not count: the running plan has `opens needs "security" by another`',
    )
    expect((await root("apply", "next.json", "--yes", "--allow", "opens,closes,breaking")).code).toBe(3)
    expect((await withToken(token)("consent", "next.json", "--allow", "opens", "--yes")).err).toContain(
      "this is a token: `by another` asks for a person, who signs in",
    )

    // Her own consent is not that of another, before or with the apply.
    expect((await ann("apply", "next.json", "--yes", "--allow", "opens")).code).toBe(3)
    expect((await ann("consent", "next.json", "--allow", "opens", "--yes")).code).toBe(0)
    expect((await ann("apply", "next.json", "--yes")).code).toBe(3)
    const eve = await as("eve", "sec-team")
    const given = await eve("consent", "next.json", "--allow", "opens", "--yes", "--message", "ticket 7")
    expect(given).toMatchObject({ code: 0, err: "" })
    expect(given.out).toContain("`ann` has consented to opens")
    expect(given.out).toContain("`eve` consents to opens, until another plan is applied.")
    await eve("consent", "next.json", "--withdraw", "--yes")
    expect((await ann("apply", "next.json", "--yes")).code).toBe(3)
    await eve("consent", "next.json", "--allow", "opens", "--yes", "--message", "ticket 7")
    expect(await ann("apply", "next.json", "--yes")).toMatchObject({ code: 0, err: "" })
    const consents = [
      { who: "ann" },
      { who: "eve", groups: ["security"], allow: ["opens"], message: "ticket 7" },
    ]
    const { provenance } = (await newest()) as unknown as { provenance: { consents: object[] } }
    expect(
      provenance.consents.sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    ).toMatchObject(consents)
    expect(await consentRows()).toContainEqual(
      expect.objectContaining({
        who: expect.objectContaining({ name: "eve" }),
        details: expect.objectContaining({
          allow: ["opens"],
          digest: compiled(text()).digest,
          message: "ticket 7",
        }),
      }),
    )
    // It was for that change: the next one needs its own.
    await running(withClaim())
    await ann("plan", "--out", "again.json")
    expect((await ann("apply", "again.json", "--yes")).code).toBe(3)
    expect((await control(ports, "GET", "/v1/consents")).body).toEqual({ consents: [] })
  })

  it("closing more than a share needs consent, and that of a publisher himself is enough", async () => {
    cwd = folderWith({})
    await running(text())
    const ann = await as("ann", "developers")
    write(withClaim())
    // One of three routes.
    expect(await ann("apply", "--yes")).toMatchObject({ code: 0, err: "" })
    await running(text(rules, "", ""))
    write(text())
    expect((await ann("apply", "--yes")).err).toContain("closes above 50% needs consent")
    expect(await ann("apply", "--yes", "--allow", "closes")).toMatchObject({ code: 0, err: "" })
    expect(await newest()).toMatchObject({
      who: "ann",
      provenance: { consents: [{ who: "ann", allow: ["closes"] }] },
    })
  })

  it("the rules protect themselves, a rollback keeps them, and a token consents only in its scope", async () => {
    cwd = folderWith({})
    await running(text())
    const root = await as("root", "platform", "developers")
    write(text(""))
    const refused = await root("apply", "--yes", "--allow", "closes,breaking")
    expect(refused).toMatchObject({
      code: 3,
      err: expect.stringContaining('opens needs "security" by another'),
    })
    write(text('\n  breaking needs "admin"'))
    expect((await root("apply", "--yes", "--allow", "opens,closes,breaking")).code).toBe(3)

    await running(withClaim())
    const { serial } = (await newest()) ?? { serial: 0 }
    const back = await root("rollback", String(serial - 1), "--yes")
    expect(back).toMatchObject({ code: 3, err: expect.stringContaining("opens needs") })
    const eve = await as("eve", "sec-team")
    await eve("consent", "--rollback", String(serial - 1), "--allow", "opens", "--yes")
    expect(await root("rollback", String(serial - 1), "--yes")).toMatchObject({ code: 0, err: "" })

    const made = { name: "deploy", may: ["plan.read", "plan.apply"], expiresAt: "2100-01-01T00:00:00Z" }
    const { secret } = (await control(ports, "POST", "/v1/tokens", made)).body
    const running1 = await newest()
    const body = { plan: compiled(withClaim()), base: running1?.serial, author, allow: ["closes"] }
    expect(await control(ports, "PUT", "/v1/plan", body, `Bearer ${secret}`)).toMatchObject({
      status: 403,
      body: { detail: "the token `deploy` may not consent: that is `plan.consent`" },
    })
  })

  it("a consent is to one plan over one running plan", async () => {
    cwd = folderWith({})
    await running(withClaim())
    const eve = await as("eve", "sec-team")
    write(text())
    const ann = await as("ann", "developers")
    await ann("plan", "--out", "one.json")
    write(`${text()}\napi more { path "/more"; auth none; GET "/" { respond 200 } }`)
    await ann("plan", "--out", "two.json")
    await eve("consent", "one.json", "--allow", "opens", "--yes")
    expect((await ann("apply", "two.json", "--yes")).code).toBe(3)
    await running(withClaim(`${rules}; breaking needs consent`))
    expect((await eve("consent", "one.json", "--allow", "opens", "--yes")).err).toContain("the plan is stale")
    const { plan, seal } = JSON.parse(readFileSync(join(cwd, "one.json"), "utf8")) as SealedPlan
    const stale = {
      digest: plan.digest,
      base: seal.base?.serial,
      baseStamp: seal.base?.stamp,
      allow: ["opens"],
    }
    expect(await control(ports, "POST", "/v1/consents", stale)).toMatchObject({ status: 412 })
    write(text(`${rules}; breaking needs consent`))
    expect((await ann("apply", "--yes")).code).toBe(3)
  })

  it("a process that cannot compare plans applies none under such rules", async () => {
    cwd = folderWith({})
    await running(text())
    const other = await freePorts()
    const bare = await start(url, other, {}, ["control"])
    try {
      const body = { plan: compiled(withClaim()), base: (await newest())?.serial, author, allow: ["closes"] }
      expect(await control(other, "PUT", "/v1/plan", body, `Bearer ${token}`)).toMatchObject({
        status: 503,
        body: { type: "urn:sallyport:control:no-review" },
      })
    } finally {
      await bare.close()
    }
  })
})
