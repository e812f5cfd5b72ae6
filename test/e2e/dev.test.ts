import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createDatabase } from "../postgres.ts"
import { postgresMissing } from "../support/postgres-binaries.ts"
import { bash, type Example, example, quickNpx } from "./example.ts"
import { devIsReady, type SallyportProcess, start, startForTest } from "./sallyport-process.ts"

/** What each line that is printed must lead to, by the words above it. */
const expected: Readonly<Record<string, RegExp>> = {
  "request a token, as from Keycloak": /"access_token":"ey.*"token_type":"Bearer"/,
  "the first door, without a token: 401": /^HTTP\/1\.1 401 .*www-authenticate: Bearer/is,
  "as ann, who owns the order: 200": /^HTTP\/1\.1 200 .*deprecation: .*"item":"lantern".*"x-user-id":"ann"/s,
  "as bob, who has no relation to the order: 403 from the second door": /^HTTP\/1\.1 403 /,
  "why? ask the engine":
    /^denied: user:bob does not have viewer on order:1\n.*write user:bob viewer order:1\n/s,
  "what happens to his request, step by step":
    /^GET \/v1\/orders\/1 .*STOP require viewer of .*403 forbidden/s,
  "as carol, who sees it through a team of a team: 200": /^HTTP\/1\.1 200 .*"backend":"orders-v1"/s,
  "the second version, another backend: 200": /^HTTP\/1\.1 200 .*"backend":"orders-v2"/s,
  "with a subscription key: 200": /^HTTP\/1\.1 200 .*"sku":"lantern"/s,
  "a body that does not match the OpenAPI document: 400 with every error":
    /^HTTP\/1\.1 400 .*"\/name","message":"is required"/s,
  "policies of an XML document, with C#: 400 without a reason":
    /^HTTP\/1\.1 400 .*\{"error":"say why, in X-Reason","method":"DELETE"\}/s,
  "too often: 429 from the 20th call in a minute on": /^(200 )+(429 )+\n$/,
  "create a subscription: its two keys are shown once":
    /^`lena` gives access to product partner .*\nprimary +sp_/,
  "calls and prices by caller": /^SUBSCRIPTION .*\nacme_ci .* EUR$/ms,
  "what services ask through OpenFGA's API": /"allowed":true/,
  "is the engine healthy?": /SERVING/,
  "what would a changed file do? (exit code 2: there are changes) Nothing is applied":
    /limit 20 per 2m|GET \/catalog\/items/,
}

describe("dev, from the first start on", () => {
  let place: Example
  let dev: SallyportProcess
  const path = (name: string) => join(place.folder, name)
  const gateway = (target: string) => fetch(`http://127.0.0.1:${place.ports[0]}${target}`)

  beforeAll(async () => {
    place = await example()
    dev = start(place.folder, place.env, ...place.argv)
    await dev.printed(devIsReady)
  })

  afterAll(async () => {
    await dev.stop("SIGKILL")
    rmSync(place.folder, { recursive: true, force: true })
  })

  test("says what runs where, which tuples it wrote and which secret it made up", () => {
    const { out, err } = dev.output
    expect(err).toBe("")
    for (const port of place.ports) expect(out).toContain(`http://127.0.0.1:${port}`)
    expect(out).toContain("ACME_CI_KEY is not set; `dev` uses `dev-acme-ci-key`.")
    expect(out).toContain("5 sample tuples of models/acme.tuples.json were written to store acme.")
    expect(statSync(path(".sallyport/control.token")).mode & 0o777).toBe(0o600)
    expect(statSync(path(".sallyport")).mode & 0o777).toBe(0o700)
  })

  test("every line it prints works when pasted", async () => {
    const lines = [...dev.output.out.matchAll(/\n {2}# (.*)\n {2}(.*)\n/g)].map(([, text, line]) => [
      text,
      line,
    ])
    expect(lines.map(([text]) => text)).toEqual(Object.keys(expected))
    const [first] = lines.filter(([, line]) => line?.includes("npx "))
    for (const [text, line] of lines) {
      // The first one goes through the real npx.
      const { out } = await bash(place.folder, line === first?.[1] ? `${line}` : `${quickNpx}\n${line}`)
      expect(out, line).toMatch(expected[text as string] as RegExp)
    }
  })

  test("the engine takes models as text and prints them", async () => {
    const engine = `http://127.0.0.1:${place.ports[1]}`
    const made = await fetch(`${engine}/stores`, { method: "POST", body: '{"name": "as text"}' })
    const { id } = (await made.json()) as { id: string }
    const text = "model\n  schema 1.1\n\ntype user\n\ntype doc\n  relations\n    define owner: [user]\n"
    const models = `${engine}/stores/${id}/authorization-models`
    const written = await fetch(models, {
      method: "POST",
      body: text,
      headers: { "content-type": "text/plain" },
    })
    const { authorization_model_id: model } = (await written.json()) as { authorization_model_id: string }
    expect(await (await fetch(`${models}/${model}?format=dsl`)).text()).toBe(text)
  })

  test("applies what is saved; a mistake is shown and changes nothing; its correction is applied", async () => {
    const status = path("models/teams/status.conf")
    const moved = (to: string) => readFileSync(status, "utf8").replace(/path +"[^"]*"/, `path "${to}"`)
    writeFileSync(status, moved("/state"))
    await dev.printed(/saved:\n(.|\n)*state(.|\n)*applied as serial 2\./)
    expect((await gateway("/state")).status).toBe(200)
    expect((await gateway("/status")).status).toBe(404)

    const text = readFileSync(path("gateway.conf"), "utf8")
    writeFileSync(path("gateway.conf"), text.replace("acme_ci { product partner", "acme_ci { product partnr"))
    await dev.printed(/saved with 1 error; serial 2 stays in use\./)
    expect(dev.output.err).toMatch(/error SP2012 .*`partnr`.*did you mean `partner`/s)
    expect((await gateway("/state")).status).toBe(200)

    writeFileSync(path("gateway.conf"), text)
    await dev.printed(/saved; the plan is unchanged, serial 2 stays in use\./)
    // As editors do that write a new file and move it into place.
    writeFileSync(path("models/teams/status.new"), moved("/states"))
    renameSync(path("models/teams/status.new"), status)
    await dev.printed(/applied as serial 3\./)
    expect((await gateway("/states")).status).toBe(200)
  })

  test("a new file that an include matches is seen, and so is one that is gone", async () => {
    writeFileSync(
      path("models/teams/more.conf"),
      'api more { path "/more"; auth none; GET "/" { respond 204 } }\n',
    )
    await dev.printed(/more(.|\n)*applied as serial 4\./)
    expect((await gateway("/more")).status).toBe(204)
    rmSync(path("models/teams/more.conf"))
    await dev.printed(/applied as serial 5\./)
    expect((await gateway("/more")).status).toBe(404)
  })

  test("a second one in this folder is told who is there", async () => {
    const second = startForTest(place.folder, place.env, ...place.argv)
    expect(await second.exited).toBe(1)
    expect(second.output.err).toMatch(
      new RegExp(`^error: \`sallyport dev\` already runs in this folder: process ${dev.child.pid}\nhelp: `),
    )
  })

  test("Ctrl-C ends it, even with a stream open; the next start goes on where it was", async () => {
    const { out: token } = await bash(place.folder, "npx sallyport token --sub ann")
    const stream = await fetch(`http://127.0.0.1:${place.ports[0]}/v2/orders/1/stream`, {
      headers: { authorization: `Bearer ${token.trim()}` },
    })
    expect(stream.headers.get("content-type")).toContain("text/event-stream")
    expect(await dev.stop("SIGINT")).toBe(0)
    await stream.text().catch(() => undefined)
    expect(dev.output.out).toMatch(/ending …\n$/)

    dev = start(place.folder, place.env, ...place.argv, "--verbose")
    await dev.printed(/Sallyport runs \(serial 5, /)
    expect(dev.output.out).not.toContain("sample tuples")
    expect((await gateway("/states")).status).toBe(200)
    await dev.stop("SIGINT")
    expect(dev.output.err).toMatch(/^GET \/states 200 [\d.]+ ms {2}models\/teams\/status\.conf:9$/m)
  })
})

describe("dev, when it cannot start", () => {
  test("all ports in use are named at once, with who has them", async () => {
    const place = await example()
    const server = createServer().listen(place.ports[2], "127.0.0.1")
    const other = createServer().listen(place.ports[0], "127.0.0.1")
    const dev = startForTest(place.folder, place.env, ...place.argv)
    expect(await dev.exited).toBe(1)
    server.close()
    other.close()
    rmSync(place.folder, { recursive: true, force: true })
    expect(dev.output.err).toContain("error: cannot listen on 2 addresses:")
    const who = process.platform === "linux" ? ` by process ${process.pid} \\(.*\\)` : ""
    expect(dev.output.err).toMatch(
      new RegExp(
        `127\\.0\\.0\\.1:${place.ports[0]} for the gateway is in use${who}; change it in gateway\\.conf`,
      ),
    )
    expect(dev.output.err).toMatch(
      new RegExp(`127\\.0\\.0\\.1:${place.ports[2]} for the identity provider is in use${who}; `),
    )
  })

  test("a folder that cannot be written", async () => {
    const place = await example()
    // Root may write everywhere; a file where the folder should be stops root too.
    writeFileSync(join(place.folder, ".sallyport"), "")
    const dev = startForTest(place.folder, place.env, ...place.argv)
    expect(await dev.exited).toBe(1)
    rmSync(place.folder, { recursive: true, force: true })
    expect(dev.output.err).toMatch(/^error: the folder .*\.sallyport cannot be written \(E\w+\)\nhelp: /)
  })

  test("a gateway.conf with errors: they are shown, and mending them is enough", async () => {
    const place = await example()
    // On a server where there is one: the other tests have seen the embedded database.
    const database = postgresMissing === undefined ? await createDatabase() : undefined
    const path = join(place.folder, "gateway.conf")
    const text = readFileSync(path, "utf8")
    writeFileSync(path, text.replace("auth  jwt acme {", "auth  jwt acne {"))
    const dev = startForTest(
      place.folder,
      { ...place.env, SALLYPORT_DATABASE_URL: database?.url ?? "" },
      ...place.argv,
    )
    await dev.printed(/gateway\.conf was not applied because of the errors above/)
    expect(dev.output.err).toMatch(/error SP2012 .*`acne`/s)
    writeFileSync(path, text)
    await dev.printed(/applied as serial 1\.(.|\n)*\nTry, in another terminal/)
    expect(await dev.stop("SIGINT")).toBe(0)
    await database?.drop()
    rmSync(place.folder, { recursive: true, force: true })
  })
})
