import { createHmac } from "node:crypto"
import { writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { SignJWT } from "jose"
import { routeRules } from "../../../runtime/control/routes.ts"
import { eventually } from "../../e2e/sallyport-process.ts"
import { Browser } from "../../gateway/browser.ts"
import type { TestProvider } from "../../gateway/oidc-provider.ts"
import { freePort } from "../../support/free-port.ts"
import { startThrowAwayPostgres } from "../../support/throw-away-postgres.ts"
import { type Asked, secretPlaces } from "./places.ts"
import { urlPlaces, writeProject, writeSecrets } from "./project.ts"
import type { CalledServices } from "./services.ts"
import type { CanaryWorld } from "./world.ts"

/** What the stages need. */
export interface Stage {
  readonly world: CanaryWorld
  readonly services: CalledServices
  readonly provider: TestProvider
  readonly databaseUrl: string
}

/** The same URL with a password. */
function withPassword(url: string, password: string): string {
  const changed = new URL(url)
  changed.username ||= "postgres"
  changed.password = encodeURIComponent(password)
  return changed.href
}

/** Its halves are those of the canary. */
const controlToken = (world: CanaryWorld) => world.canary("control token").replace("+", "-")

const nowhere = (password: string) => withPassword("postgres://gateway@127.0.0.1:1/nowhere", password)

/** Starts the process with all secrets, and applies its plan. */
export async function begin({ world, services, provider, databaseUrl }: Stage): Promise<void> {
  const { folder, ports } = world
  writeProject(folder, ports)
  writeSecrets(folder, world.contents())
  Object.assign(provider, { secret: world.canary("login_secret") })
  const url = (name: string, base: string) => withPassword(base, world.canary(name))
  const control = `http://127.0.0.1:${ports.control}`
  world.env = {
    SALLYPORT_CONTROL_TOKEN: controlToken(world),
    SALLYPORT_CONTROL_URL: control,
  }
  world.start(
    "serve",
    {
      ...world.env,
      SALLYPORT_DATABASE_URL: url("password of the database", databaseUrl),
      SALLYPORT_DATABASE_NOTICES_URL: nowhere(world.canary("password for notices")),
      SALLYPORT_DATABASE_REPLICA_URL: nowhere(world.canary("password of replicas")),
      SALLYPORT_CONTROL_LISTEN: `127.0.0.1:${ports.control}`,
      SALLYPORT_AUDIT_SINKS: `stdout,file:audit.jsonl,${services.url}/audit`,
      SALLYPORT_AUDIT_TOKEN: world.canary("audit token"),
      SALLYPORT_WEBHOOKS: `${services.url}/audit`,
      SALLYPORT_WEBHOOK_SECRET: world.canary("webhook secret of changes"),
      SERVICE: `${services.url}/service`,
      COLLECTOR: `${services.url}/collector`,
      PROVIDER: provider.url,
      DEAD_URL: "http://127.0.0.1:1",
    },
    "serve",
  )
  await eventually(async () => (await fetch(`${control}/healthz`)).ok || undefined)
  await world.command("validate")
  const planned = await world.command("plan", "--out", "plan.json")
  if (!planned.includes("plan.json")) throw new Error(planned)
  const applied = await world.command("apply", "plan.json", "--yes", "--allow", "opens")
  if (!applied.startsWith("0\n")) throw new Error(applied)
}

/** Sends all requests, as callers with and without a right to do so. */
export async function ask(stage: Stage): Promise<void> {
  const { world } = stage
  for (const { name, api, asks } of secretPlaces) {
    const usual = api === undefined ? [] : ["", "dead"].map((end) => ({ path: `/${name}/${end}` }))
    for (const asked of asks?.(world.canary(name)) ?? usual) await world.gateway(asked)
  }
  for (const asked of await callersOf(world)) await world.gateway(asked)
  await askEngine(world)
  await sendBroken(world)
}

/** Requests with credentials of callers: some that are right, some that nobody knows. */
async function callersOf(world: CanaryWorld): Promise<readonly Asked[]> {
  const key = new TextEncoder().encode(world.canary("issuer_key"))
  const claims = { iss: "https://own.example", aud: "api", sub: "ann" }
  const signJwt = (more: object) =>
    new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg: "HS256" }).sign(key)
  const seconds = Math.floor(Date.now() / 1000)
  const [jwt, expired] = [await signJwt({ exp: seconds + 600 }), await signJwt({ exp: seconds - 600 })]
  world.add("signature of a JWT", jwt.split(".")[2])
  world.add("signature of an expired JWT", expired.split(".")[2])
  const tokens = [jwt, expired, `${jwt}x`, world.canary("bearer token nobody knows")]
  const paths = ["issuer_key", "introspection_secret", "caller_key", "allowed/1", "no-route"]
  const rightOnes = ["issuer_key/", "issuer_key/dead"].map((path) => ({
    path: `/${path}`,
    headers: { authorization: `Bearer ${jwt}` },
  }))
  const unknown = { authorization: basicOf("nobody", world.canary("password nobody knows")) }
  const headers = {
    "x-api-key": world.canary("key nobody knows"),
    cookie: `session=${world.canary("cookie")}`,
    "proxy-authorization": basicOf("x", world.canary("password for a proxy")),
    "ocp-apim-subscription-key": world.canary("key of another product"),
    "x-hub-signature-256": `sha256=${createHmac("sha256", "x").update(world.canary("wrong signature")).digest("hex")}`,
    "x-custom": world.canary("field nobody reads"),
  }
  const query = `?access_token=${world.canary("token in a query").replace("+", "%2B")}&key=${world.canary("key in a query").replace("+", "%2B")}`
  return [
    ...rightOnes,
    ...tokens.flatMap((token) =>
      paths.map((path) => ({ path: `/${path}/`, headers: { authorization: `Bearer ${token}` } })),
    ),
    ...[...paths, "password", "login_secret", "document_secret"].flatMap((path) => [
      { path: `/${path}/${query}`, headers: { ...headers, ...unknown } },
      {
        path: `/${path}/dead${query}`,
        method: "POST",
        headers: { ...headers, ...unknown },
        body: world.canary("body"),
      },
    ]),
    { path: "/allowed/1", headers: { "x-api-key": world.canary("caller_key") } },
  ]
}

const basicOf = (user: string, password: string) =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`

/** Logs a browser in, and out again. */
export async function logIn({ world }: Stage): Promise<void> {
  const browser = new Browser()
  const base = `http://127.0.0.1:${world.ports.gateway}`
  for (const path of ["/login_secret/", "/login_secret/dead"]) {
    const { status } = await browser.open(`${base}${path}`)
    world.noteStatus(path, status)
  }
  for (const jar of browser.cookies.values())
    for (const [name, value] of jar) if (value.length > 30) world.add(`cookie ${name}`, value)
  await browser.open(`${base}/oauth2/callback?code=${world.canary("code of a login")}&state=x`)
  await browser.open(`${base}/oauth2/logout`)
}

/** Questions and writes to the engine, with its key and with a wrong one. */
async function askEngine(world: CanaryWorld): Promise<void> {
  const tuple = { user: "user:ann", relation: "viewer", object: "order:1" }
  const asks: readonly (readonly [string, object])[] = [
    ["write", { writes: { tuple_keys: [tuple] } }],
    ["check", { tuple_key: tuple }],
    ["list-objects", { user: "user:ann", relation: "viewer", type: "order" }],
    ["check", { tuple_key: { ...tuple, relation: "no such relation" } }],
  ]
  for (const key of [world.canary("engine_key"), world.canary("engine key nobody knows")])
    for (const [end, body] of asks)
      await world.ask("engine", world.ports.authz, {
        path: `/stores/shop/${end}`,
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      })
}

/** Requests that are not HTTP, with a credential in their head. */
async function sendBroken(world: CanaryWorld): Promise<void> {
  const { gateway, https, authz, control } = world.ports
  const broken = `Authorization: Bearer ${world.canary("token in a broken head")}\r\nBroken Field: x\r\n\r\n`
  for (const port of [gateway, https, authz, control]) {
    const socket = connect(port, "127.0.0.1")
    socket.end(`GET /caller_key/ HTTP/1.1\r\nHost: localhost\r\n${broken}`)
    world.outputs.add("response to a broken request", await text(socket).catch(String))
  }
}

/** Everything that operators can ask and do. */
export async function operate(stage: Stage): Promise<void> {
  const { world } = stage
  await issue(world, "issued key", "subscription", "create", "issued", "--all")
  await issue(world, "issued token", "control-token", "create", "ci", "--role", "viewer")
  for (const words of [
    ["status"],
    ["history"],
    ["usage"],
    ["audit"],
    ["whoami"],
    ["subscription", "list"],
    ["control-token", "list"],
  ])
    await world.command(...words)
  const secrets = ["--key", world.canary("caller_key"), "-H", `Cookie: ${world.canary("cookie")}`]
  for (const { name, api } of secretPlaces)
    if (api !== undefined)
      for (const more of name === "query_secret" ? [[], ["--config", "gateway.conf"]] : [[]])
        await world.command(
          "explain",
          "request",
          name.startsWith("webhook") ? "POST" : "GET",
          `/${name}/`,
          ...secrets,
          ...more,
        )
  await world.command(
    "explain",
    "request",
    "GET",
    "/issuer_key/",
    "--token",
    world.canary("bearer token nobody knows"),
  )
  const token = world.env["SALLYPORT_CONTROL_TOKEN"] as string
  // The stream of events does not end: `watchEvents` reads it.
  const asks = Object.keys(routeRules).filter(
    (route) => route.startsWith("GET ") && !route.endsWith("/v1/events"),
  )
  // More failures than these would lock this address out.
  const wrong = asks.filter((route) => /status|audit/.test(route))
  for (const [bearer, routes] of [
    [token, asks],
    [world.canary("control token nobody knows"), wrong],
  ] as const)
    for (const route of routes)
      await world.ask("control listener", world.ports.control, {
        path: (route.split(" ")[1] as string)
          .replace(":serial", "1")
          .replace(":name", "issued")
          .replace(":id", "x"),
        headers: {
          authorization: `Bearer ${bearer}`,
          accept: route.endsWith("metrics") ? "application/openmetrics-text" : "*/*",
        },
      })
}

/** A command that shows a new secret once. */
async function issue(world: CanaryWorld, name: string, ...argv: string[]): Promise<void> {
  const { code, out, err } = await world.quietCommand(...argv)
  const found = /\b(?:spt_|sp[a-z]_)?[\w-]{30,}\b/.exec(out)
  if (code !== 0 || found === null) throw new Error(`${code} ${out}${err}`)
  world.add(name, found[0])
}

/** Secrets that cannot be used take the place of the others, in files that are read again and in a plan. Services repeat what they get. */
export async function spoil(stage: Stage): Promise<void> {
  const { world, services, provider } = stage
  services.repeats = true
  provider.tokenAnswer = {
    status: 400,
    body: { error: "invalid_client", error_description: world.canary("login_secret") },
  }
  writeProject(world.folder, world.ports, 'api more { path "/more"; auth none; GET "/" { respond 200 } }')
  await world.command("plan", "--out", "more.json")
  const path = (name: string) => join(world.folder, "secrets", name)
  const spoilt = secretPlaces.flatMap(({ name, spoilt: make, tolerated }) =>
    make === undefined ? [] : [{ name, tolerated, text: make(world.add(`${name}, spoilt`)) }],
  )
  for (const { name, text } of spoilt.filter(({ tolerated }) => tolerated !== true)) {
    writeFileSync(path(name), text)
    const answer = await world.command("apply", "more.json", "--yes", "--allow", "opens")
    if (!answer.startsWith("1\n")) throw new Error(`${name} was accepted as \`${text}\`: ${answer}`)
    writeFileSync(path(name), world.contentOf(name))
  }
  for (const { name, text, tolerated } of spoilt) if (tolerated === true) writeFileSync(path(name), text)
  await world.command("apply", "more.json", "--yes", "--allow", "opens")
  await ask(stage)
  for (const { name, text } of spoilt) writeFileSync(path(name), text)
  await world.processes[0]?.printed(/files of the plan could not be loaded/)
  await spoilUrls(stage)
}

/** URLs with a password, which no place accepts, and ones that are no URLs at all. */
async function spoilUrls({ world }: Stage): Promise<void> {
  const kinds = [
    ["whole", "http://", "127.0.0.1:1/base"],
    ["broken", "http://", "127.0.0.1:no-port/"],
    ["strange", "", "127.0.0.1/base"],
  ] as const
  writeProject(world.folder, world.ports, urlPlaces, "url")
  await world.command("plan", "--out", "urls.json")
  for (const [kind, scheme, end] of kinds) {
    const password = world.canary(`password in a ${kind} URL`)
    writeFileSync(join(world.folder, "url"), `${scheme}gateway:${password}@${end}`)
    const answer = await world.command("apply", "urls.json", "--yes", "--allow", "opens")
    if (!answer.startsWith("1\n")) throw new Error(`a ${kind} URL was accepted: ${answer}`)
  }
}

/** Processes that cannot start, or reach nothing. */
export async function fail({ world }: Stage): Promise<void> {
  const own = {
    SALLYPORT_CONTROL_LISTEN: `127.0.0.1:${await freePort()}`,
    SALLYPORT_SPOOL: join(world.folder, "other-spool"),
  }
  const password = (name: string) => world.canary(`password, ${name}`)
  writeFileSync(join(world.folder, "secrets", "database-password"), password("in a file"))
  const databases: readonly Readonly<Record<string, string>>[] = [
    { SALLYPORT_DATABASE_URL: nowhere(password("of a dead database")) },
    { SALLYPORT_DATABASE_URL: `postgres://gateway:${password("in a broken URL")}@127.0.0.1:no-port/x` },
    {
      SALLYPORT_DATABASE_URL: "postgres://gateway@127.0.0.1:1/x",
      SALLYPORT_DATABASE_PASSWORD_FILE: "secrets/database-password",
    },
    {
      SALLYPORT_DATABASE_URL: "postgres://gateway@127.0.0.1:1/x",
      SALLYPORT_DATABASE_PASSWORD_COMMAND: "cat secrets/database-password /nowhere",
    },
  ]
  for (const database of databases) await world.commandWith(database, "migrate")
  await failAsClient(world)
  const token = { SALLYPORT_CONTROL_TOKEN: controlToken(world) }
  const sinks = [
    `http://x:${password("of an audit sink")}@127.0.0.1:1/audit`,
    `ftp://x:${password("of no sink")}@127.0.0.1/`,
  ]
  for (const sink of sinks)
    await world.commandWith({ ...databases[0], ...token, SALLYPORT_AUDIT_SINKS: sink }, "serve")
  const started = world.start("serve without a database", { ...own, ...token, ...databases[0] }, "serve")
  await started.printed(/the database is unavailable/)
  await started.stop()
  await failByPassword(world, { ...own, ...token })
}

/** A database that refuses the password. */
async function failByPassword(world: CanaryWorld, own: Readonly<Record<string, string>>): Promise<void> {
  const rules = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
  const server = await startThrowAwayPostgres({ files: { "pg_hba.conf": rules } })
  try {
    const url = new URL(server.url("postgres"))
    url.password = world.canary("password, that the database refuses")
    const settings = { ...own, SALLYPORT_DATABASE_URL: url.href }
    await world.commandWith(settings, "migrate")
    const started = world.start("serve with a wrong password", settings, "serve")
    await started.printed(/password/)
    await started.stop()
  } finally {
    await server.stop()
  }
}

/** Commands of an operator that cannot connect. */
async function failAsClient(world: CanaryWorld): Promise<void> {
  const file = (name: string) => {
    const path = join(world.folder, "secrets", name)
    writeFileSync(path, `-----BEGIN PRIVATE KEY-----\n${world.canary(`file ${name}`)}\n`)
    return path
  }
  const dead = { SALLYPORT_CONTROL_URL: "https://127.0.0.1:1" }
  await world.commandWith({ ...dead, SALLYPORT_CONTROL_TOKEN_FILE: file("operator.token") }, "status")
  const certificate = {
    SALLYPORT_CONTROL_CERT: join(world.folder, "edge.pem"),
    SALLYPORT_CONTROL_CERT_KEY: file("operator.key"),
  }
  await world.commandWith(
    { ...dead, ...certificate, SALLYPORT_CONTROL_TOKEN: world.canary("token of an operator") },
    "status",
  )
  for (const port of [1, world.ports.authz])
    await world.commandWith(
      { SALLYPORT_AUTHZ_TOKEN: world.canary("token of a shell") },
      ...["shell", "--url", `http://127.0.0.1:${port}`],
    )
}
