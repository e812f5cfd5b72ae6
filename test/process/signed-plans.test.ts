import { generateKeyPairSync } from "node:crypto"
import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { digestOf } from "../../runtime/plan/canonical.ts"
import { type SealedPlan, sealPlan } from "../../runtime/plan/seal.ts"
import type { Runtime } from "../../runtime/process/settings.ts"
import { folderWith, run } from "../cli/run.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, control, freePorts, type Ports, start, token } from "./project.ts"

describePostgres("plans that must be signed", () => {
  let ports: Ports
  let runtime: Runtime
  let drop: () => Promise<void>
  beforeAll(async () => {
    const database = await createMigratedDatabase()
    drop = database.drop
    ports = await freePorts()
    runtime = await start(database.url, ports)
  })
  afterAll(async () => {
    await runtime.close()
    await drop()
  })

  it("are refused with a forged, moved or missing signature", async () => {
    const { cwd, sallyport, write, key } = await project()
    // The rules of the running plan count, and no plan is running yet.
    write("one")
    expect(await sallyport("apply", "--yes", "--allow", "opens")).toMatchObject({ code: 0, err: "" })

    write("two")
    const unsigned = await sallyport("apply", "--yes", "--allow", "opens")
    expect(unsigned).toMatchObject({
      code: 3,
      err: expect.stringMatching(
        /accepts only plans signed by `ci`: it has no signature\nhelp: Sign the plan: /,
      ),
    })
    await sallyport("plan", "--out", "plain.json")
    expect((await sallyport("apply", "plain.json", "--yes", "--allow", "opens")).code).toBe(3)
    await sallyport("plan", "--sign", key, "--out", "two.json", "--message", "signed")
    const sealed = read(cwd, "two.json")

    // The checksums of these are right: anybody can compute them.
    const otherKey = generateKeyPairSync("ed25519").privateKey
    const { seal, signature, plan } = sealed
    const forgeries: [string, unknown][] = [
      ["removed", { ...sealed, signature: undefined }],
      ["other-key", sealPlan(seal, plan, otherKey)],
      ["other-author", { ...sealed, ...resealed({ ...seal, author: { ...seal.author, who: "eve" } }) }],
      ["other-time", { ...sealed, ...resealed({ ...seal, at: "2030-01-01T00:00:00.000Z" }) }],
      ["other-history", { ...sealed, ...resealed({ ...seal, history: "another database" }) }],
    ]
    for (const [name, content] of forgeries) {
      writeFileSync(join(cwd, `${name}.json`), JSON.stringify(content))
      const refused = await sallyport("apply", `${name}.json`, "--yes", "--allow", "opens")
      expect(refused, name).toMatchObject({ code: 3, err: expect.stringContaining("signed by `ci`") })
    }
    // The command may refuse, too; the listener decides.
    const base = seal.base?.serial ?? null
    const put = (change: object) => applied({ plan, base, seal, signature, ...change })
    expect(await put({ seal: undefined })).toMatch(/^403 urn:sallyport:control:plan-unsigned /)
    expect(await put({ seal: { ...seal, digest: digestOf("x") } })).toMatch(/^422 .*plan-invalid/)
    expect(await put({ seal: { ...seal, base: null } })).toMatch(/^403 .*plan-unsigned/)

    expect(await sallyport("apply", "two.json", "--yes", "--allow", "opens")).toMatchObject({
      code: 0,
      err: "",
    })
    const [record] = (await control(ports, "GET", "/v1/plans?limit=1")).body["plans"] as [object]
    expect(record).toMatchObject({ message: "signed", provenance: { seal, signature, signer: "ci" } })
    await release(sallyport, write, key)
  })

  it("are used up by one apply, and come back by rollback", async () => {
    const { cwd, sallyport, write, key } = await project()
    write("one")
    expect(await sallyport("apply", "--yes", "--allow", "opens")).toMatchObject({ code: 0, err: "" })
    const [{ serial: first }] = (await control(ports, "GET", "/v1/plans?limit=1")).body["plans"] as [
      { serial: number },
    ]
    for (const name of ["two", "three"]) {
      write(name)
      await sallyport("plan", "--sign", key, "--out", `${name}.json`)
      expect(await sallyport("apply", `${name}.json`, "--yes", "--allow", "opens")).toMatchObject({
        code: 0,
        err: "",
      })
    }
    const unsigned = await sallyport("rollback", String(first), "--yes")
    expect(unsigned.err).toContain("was applied without a signature")
    expect(await sallyport("rollback", String(first + 1), "--yes")).toMatchObject({ code: 0, err: "" })
    const { plan, seal, signature } = read(cwd, "three.json")
    expect(await applied({ plan, seal, signature, base: first + 3 })).toMatch(
      /^403 .*signed for a change of another plan/,
    )
    await release(sallyport, write, key)
  })

  /** A project whose running plan demands the signature of a key that the commands made. */
  async function project() {
    const cwd = folderWith({})
    const env = { SALLYPORT_CONTROL_URL: `http://127.0.0.1:${ports.control}`, SALLYPORT_CONTROL_TOKEN: token }
    const sallyport = (...words: string[]) => run({ cwd, env }, ...words)
    const made = await sallyport("signing-key", "create", "ci.key", "--name", "ci")
    expect(made).toMatchObject({ code: 0, err: expect.stringContaining("can sign plans") })
    expect(statSync(join(cwd, "ci.key")).mode & 0o777).toBe(0o600)
    expect((await sallyport("signing-key", "create", "ci.key")).err).toContain("cannot be written to ci.key")
    expect((await sallyport("signing-key", "show", "ci.key", "--name", "ci")).out).toBe(made.out)
    const write = (greeting: string, rules = `change { ${made.out} }`) =>
      writeFileSync(
        join(cwd, "gateway.conf"),
        `gateway test { listen 127.0.0.1:${ports.gateway}; trust none }
api hello { path "/hello"; auth none; GET "/" { respond 200 { body text "${greeting}" } } }
${rules}`,
      )
    return { cwd, sallyport, write, key: "ci.key" }
  }

  type Project = Awaited<ReturnType<typeof project>>

  /** The block that demands signatures is itself only removed by a signed plan. */
  async function release(sallyport: Project["sallyport"], write: Project["write"], key: string) {
    write("free", "")
    expect((await sallyport("apply", "--yes", "--allow", "opens")).err).toContain("signed by `ci`")
    await sallyport("plan", "--sign", key, "--out", "free.json")
    expect(await sallyport("apply", "free.json", "--yes", "--allow", "opens")).toMatchObject({ code: 0 })
    write("free again", "")
    expect(await sallyport("apply", "--yes", "--allow", "opens")).toMatchObject({ code: 0 })
  }

  async function applied(body: object): Promise<string> {
    const answer = await control(ports, "PUT", "/v1/plan", { ...body, author })
    return `${answer.status} ${answer.body["type"] ?? ""} ${answer.body["detail"] ?? ""}`
  }
})

function read(folder: string, file: string): SealedPlan {
  return JSON.parse(readFileSync(join(folder, file), "utf8")) as SealedPlan
}

function resealed(seal: SealedPlan["seal"]) {
  return { seal, checksum: digestOf(seal) }
}
