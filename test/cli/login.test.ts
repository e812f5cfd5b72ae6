import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest"
import { controlMark } from "../../runtime/control/api.ts"
import { type IdentityProvider, startIdentityProvider } from "../../runtime/dev/identity-provider.ts"
import { folderWith, run } from "./run.ts"

const offerOf = (issuer: string) => ({
  ...{ issuer: "staff", discovery: `${issuer}/.well-known/openid-configuration` },
  ...{ client: "sallyport-cli", scope: null as string | null },
})
type Offer = ReturnType<typeof offerOf>
/** What the control API says about the user of a token. */
type Judge = (subject: string) => { readonly status: number; readonly body: object }

const accepts: Judge = (name) => ({
  status: 200,
  body: { kind: "person", name, role: "admin", issuer: "staff", expiresAt: null },
})

let provider: IdentityProvider
beforeAll(async () => {
  provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 })
})
afterAll(() => provider.close())

let env: Record<string, string>
let logins: string
beforeEach(() => {
  const folder = folderWith({})
  logins = join(folder, "sallyport/logins")
  env = { XDG_CONFIG_HOME: folder }
})

/** A control API that offers logins; it believes tokens without verifying them. */
async function control(judge: Judge = accepts, offers: readonly Offer[] = [offerOf(provider.issuer)]) {
  const bearers: string[] = []
  const server = createServer((request, response) => {
    const send = (status: number, body: object) =>
      response.writeHead(status, { [controlMark]: "1" }).end(JSON.stringify(body))
    if (request.url === "/v1/login") return send(200, { logins: offers })
    const bearer = (request.headers.authorization ?? "").replace("Bearer ", "")
    bearers.push(bearer)
    const [, payload] = bearer.split(".")
    const { sub = "nobody" } =
      payload === undefined
        ? {}
        : (JSON.parse(Buffer.from(payload, "base64url").toString()) as { sub?: string })
    const { status, body } = judge(sub)
    return send(status, request.url === "/v1/whoami" || status !== 200 ? body : { plans: [] })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const world = { cwd: "/", env: { SALLYPORT_CONTROL_URL: url, ...env } }
  return { url, bearers, world, sallyport: (...words: string[]) => run(world, ...words) }
}
type Control = Awaited<ReturnType<typeof control>>

/** Logs in, while a user answers at the provider as soon as the code is shown. */
async function logIn({ world }: Control, answer: Record<string, string> = {}) {
  let answered: Promise<unknown> | undefined
  const onErr = (text: string) => {
    const code = /^ {4}([A-Z]{4}-[A-Z]{4})$/m.exec(text)?.[1]
    if (code === undefined) return
    const body = new URLSearchParams({ user_code: code, username: "ann", password: "ann", ...answer })
    answered = fetch(`${provider.issuer}/device`, { method: "POST", body })
  }
  const outcome = await run({ ...world, onErr }, "login")
  await answered
  return outcome
}

const fileOf = () => join(logins, readdirSync(logins)[0] ?? "", "login.json")
const stored = () => JSON.parse(readFileSync(fileOf(), "utf8")) as Record<string, string>
const change = (more: object) => writeFileSync(fileOf(), JSON.stringify({ ...stored(), ...more }))
/** What a login is whose access token has expired. */
const hourAgo = { obtainedAt: "2026-01-01T00:00:00.000Z", expiresAt: "2026-01-01T01:00:00.000Z" }

test("says what to do, stores the login for its user only, and commands use it", async () => {
  const one = await control()
  const { code, out, err } = await logIn(one)
  expect({ code, out }).toEqual({
    code: 0,
    out: `Logged in at ${one.url} as \`ann\`, with the role \`admin\`.\n`,
  })
  expect(err).toContain(
    `Open this page in a browser, on this or any other device:\n\n    ${provider.issuer}/device\n`,
  )
  expect(err).toContain("The code expires in 10 minutes")
  expect(err).not.toContain("warning")
  for (const [path, mode] of [
    [fileOf(), 0o600],
    [join(fileOf(), ".."), 0o700],
  ] as const)
    expect(statSync(path).mode & 0o777, path).toBe(mode)
  expect(readdirSync(join(fileOf(), ".."))).toEqual(["login.json"])
  expect((await one.sallyport("history")).code).toBe(0)
  expect(one.bearers.at(-1)).toBe(stored()["accessToken"])
  expect((await one.sallyport("whoami")).out).toMatch(
    /commands refresh it\nThe credential is the login of `ann`\.\n$/,
  )
  // A login is for one URL.
  const other = await control()
  expect((await other.sallyport("history")).err).toContain(`no control token for ${other.url}`)
  expect(other.bearers).toEqual([])
})

test("an expired login is refreshed, and one that the provider has ended says so", async () => {
  const one = await control()
  await logIn(one)
  const { refreshToken } = stored()
  change(hourAgo)
  expect(await one.sallyport("history")).toMatchObject({ code: 0, err: "" })
  expect(stored()["refreshToken"]).not.toBe(refreshToken)
  expect(one.bearers.at(-1)).toBe(stored()["accessToken"])
  // The old refresh token again: the provider ends the login.
  change({ ...hourAgo, refreshToken })
  const ended = await one.sallyport("history")
  expect(ended.err).toBe(
    `error: the login of \`ann\` at ${one.url} has expired, and the provider does not refresh it: the token endpoint responds with 400 (invalid_grant: Maximum allowed refresh token reuse exceeded)\nhelp: Run \`sallyport login --control ${one.url}\`.\n`,
  )
  change({ ...hourAgo, refreshToken: null })
  expect((await one.sallyport("history")).err).toContain(
    "has expired, and the provider gave no refresh token",
  )
})

test("a login that cannot be refreshed now is used until its token expires", async () => {
  const one = await control()
  await logIn(one)
  change({ discovery: "http://127.0.0.1:1/.well-known/openid-configuration" })
  const soon = new Date(Date.now() + 20_000).toISOString()
  change({ obtainedAt: new Date(Date.now() - 3_600_000).toISOString(), expiresAt: soon })
  expect(await one.sallyport("history")).toMatchObject({ code: 0, err: "" })
  change(hourAgo)
  const away = await one.sallyport("history")
  expect(away.err).toContain(
    "has expired and cannot be refreshed: the discovery document at http://127.0.0.1:1/",
  )
  expect(away.err).toContain("help: Run the command again when the provider responds.")
})

test("a token that the control API does not accept is not stored, and revoked", async () => {
  const judge: Judge = (name) => ({ status: 403, body: { detail: `the token of \`${name}\` has no role` } })
  const { code, err } = await logIn(await control(judge))
  expect(code).toBe(1)
  expect(err).toContain("error: not logged in: the issuer `staff` gave a token, but ")
  expect(err).toContain("refuses it: the token of `ann` has no role\nhelp: Compare the claims")
  const other: Judge = () => ({ status: 401, body: { detail: "the audience is another one" } })
  expect((await logIn(await control(other))).err).toContain("refuses it: the audience is another one\n")
  expect(() => readdirSync(logins)).toThrow("ENOENT")
})

test("a login that the user denies", async () => {
  expect(await logIn(await control(), { answer: "deny" })).toMatchObject({
    code: 3,
    err: expect.stringMatching(
      /error: not logged in: the login was denied at the provider\nhelp: Run `sallyport login` again\.\n$/,
    ),
  })
})

test("the environment comes before the login, and the login before the token of the folder", async () => {
  const one = await control()
  const cwd = folderWith({ ".sallyport/control.token": "the-token-of-the-folder\n" })
  const history = (more: Record<string, string> = {}) =>
    run({ cwd, env: { ...one.world.env, ...more } }, "history")
  await history()
  await logIn(one)
  await history()
  await history({ SALLYPORT_CONTROL_TOKEN: "the-token-of-the-environment" })
  expect(one.bearers.filter((_, at) => at !== 1)).toEqual([
    "the-token-of-the-folder",
    stored()["accessToken"],
    "the-token-of-the-environment",
  ])
  env["SALLYPORT_CONTROL_TOKEN"] = "the-token-of-the-environment"
  const again = await control()
  expect((await logIn(again)).err).toContain(
    "warning: commands do not use this login, because SALLYPORT_CONTROL_TOKEN",
  )
})

test("each credential that is refused names itself and the remedy", async () => {
  const one = await control(() => ({ status: 401, body: { detail: "why" } }))
  const cwd = folderWith({ ".sallyport/control.token": "the-token-of-the-folder\n" })
  const folder = await run({ ...one.world, cwd }, "history")
  expect(folder.err).toContain(
    `${one.url} refused the control token in .sallyport/control.token: why\nhelp: Set SALLYPORT_CONTROL_TOKEN`,
  )
  const given = await run(
    { cwd, env: { ...one.world.env, SALLYPORT_CONTROL_TOKEN: "a-token-of-the-environment" } },
    "history",
  )
  expect(given.err).toContain("refused the control token of the environment: why")
})

test("logout revokes the login and deletes it", async () => {
  const one = await control()
  await logIn(one)
  const { refreshToken = "" } = stored()
  expect(await one.sallyport("logout")).toMatchObject({
    code: 0,
    out: `Logged out at ${one.url}.\n`,
    err: "",
  })
  const form = { grant_type: "refresh_token", refresh_token: refreshToken, client_id: "sallyport-cli" }
  const refresh = await fetch(`${provider.issuer}/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams(form),
  })
  expect(await refresh.json()).toMatchObject({ error: "invalid_grant" })
  expect(await one.sallyport("logout")).toMatchObject({ code: 0, out: `There is no login at ${one.url}.\n` })
  await logIn(one)
  change({ discovery: "http://127.0.0.1:1/" })
  expect(await one.sallyport("logout")).toMatchObject({
    code: 0,
    err: expect.stringMatching(
      /^warning: the provider did not revoke the login .*: its access token is valid until 20/,
    ),
  })
})

test("a login that others can read, or that is damaged, is not used, and can be ended", async () => {
  const one = await control()
  await logIn(one)
  chmodSync(fileOf(), 0o640)
  expect((await one.sallyport("history")).err).toContain(
    "can be read by other users of this machine\nhelp: Run `chmod 600 ",
  )
  chmodSync(fileOf(), 0o600)
  writeFileSync(fileOf(), "{")
  expect((await one.sallyport("history")).err).toMatch(
    /login\.json is damaged\nhelp: Delete the file, and run `sallyport login/,
  )
  expect(await one.sallyport("logout")).toMatchObject({ code: 0, err: expect.stringContaining("is damaged") })
  expect((await one.sallyport("logout")).out).toContain("There is no login")
})

test("what is in the way of a login", async () => {
  const several = await control(accepts, [
    offerOf(provider.issuer),
    { ...offerOf(provider.issuer), issuer: "guests" },
  ])
  expect((await several.sallyport("login")).err).toContain(
    "offers logins at several issuers: `staff`, `guests`\nhelp: Choose one with `--issuer NAME`.",
  )
  expect((await several.sallyport("login", "--issuer", "x")).err).toContain(
    "offers no login at an issuer `x`\nhelp: It offers: ",
  )
  const none = await control(accepts, [])
  expect((await none.sallyport("login")).err).toContain(`nobody can log in at ${none.url}: no \`auth jwt\``)
  const away = await control(accepts, [{ ...offerOf("http://127.0.0.1:1") }])
  expect((await away.sallyport("login")).err).toMatch(
    /cannot log in at the issuer `staff`: the discovery document at .* is not available: .*\nhelp: Check that this machine reaches /,
  )
  const web = await control(accepts, [{ ...offerOf(provider.issuer), client: "web" }])
  expect((await web.sallyport("login")).err).toMatch(
    /responds with 400 \(unauthorized_client: .*\nhelp: Check that the provider has a public client `web`/,
  )
  const scope = await control(accepts, [{ ...offerOf(provider.issuer), scope: "moon" }])
  expect((await scope.sallyport("login")).err).toContain("invalid_scope")
  const public_ = await control(accepts, [offerOf("http://id.invalid")])
  expect((await public_.sallyport("login")).err).toContain(
    "warning: the connection to the issuer `staff` at http://id.invalid/.well-known/openid-configuration is not encrypted",
  )
  env = {}
  expect((await logIn(await control())).err).toContain(
    "there is no folder for logins: neither XDG_CONFIG_HOME nor HOME is set",
  )
})
