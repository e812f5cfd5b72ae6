import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { Author } from "../../runtime/control/api.ts"
import { startRuntime } from "../../runtime/main.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import type { ProcessRole, Runtime, RuntimeSettings } from "../../runtime/process/settings.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { compile } from "../compile.ts"
import { freePort } from "../support/free-port.ts"

export const token = "test-token-0123456789"
export const author: Author = { who: "test", commit: null, message: null }

/** Ports that stay the same for all plans of one test. */
export interface Ports {
  readonly gateway: number
  readonly authz: number
  readonly control: number
}

export async function freePorts(): Promise<Ports> {
  return { gateway: await freePort(), authz: await freePort(), control: await freePort() }
}

/** The plan of a small project; `more` is added to its text, `greeting` is what `GET /hello` answers. */
export function planOf(
  ports: Ports,
  greeting = "hello",
  more = "",
  relations = "define viewer: [user]",
  documents: readonly (readonly [string, string])[] = [],
): Plan {
  return compiled(projectText(ports, greeting, more, ""), relations, documents)
}

/** The same project, whose gateway and engine serve HTTPS with the certificate in `own.pem` and `own.key`. */
export function planWithTls(
  ports: Ports,
  declarations = 'certificate own { cert file("own.pem"); key file("own.key") }',
): Plan {
  const text = projectText(ports, "hello", declarations, "")
  return compiled(
    text.replace(/listen (\S+?)([;\s])/g, "listen $1 { tls { certificate own } }$2"),
    "define viewer: [user]",
  )
}

/** The same project with statements in `authz`, and declarations they need. */
export function planOfEngine(
  ports: Ports,
  declarations: string,
  statements: string,
  relations = "define viewer: [user]",
): Plan {
  return compiled(projectText(ports, "hello", declarations, statements), relations)
}

function projectText(ports: Ports, greeting: string, more: string, statements: string): string {
  return `
gateway test { listen 127.0.0.1:${ports.gateway} }
authz { listen 127.0.0.1:${ports.authz}; ${statements.includes("max-staleness") ? "" : "max-staleness 1s; "}store acme { model "acme.fga" }
${statements}
}
api hello { path "/hello"; auth none; GET "/" { respond 200 { body text "${greeting}" } } }
secret ann_key = env(ANN_KEY)
secret bob_key = env(BOB_KEY)
subscription ann { api order; key ann_key }
subscription bob { api order; key bob_key }
api order {
  path "/order"
  auth subscription
  GET "/{id}" { require viewer of "order:\${path.id}" for "user:\${subscription.name}" in acme; respond 200 { body text "seen" } }
}
${more}`
}

function compiled(
  text: string,
  relations: string,
  documents: readonly (readonly [string, string])[] = [],
): Plan {
  const model = `model\n  schema 1.1\ntype user\ntype order\n  relations\n    ${relations}\n`
  const { plan, diagnostics } = compile(
    new MemoryFiles([["gateway.conf", text], ["acme.fga", model], ...documents]),
    "gateway.conf",
  )
  if (plan === undefined) throw new Error(diagnostics.map(({ detail }) => detail).join("\n"))
  return plan
}

/** A runtime of this process. Its log is kept, and not shown. Without a `spoolFolder` it gets one of its own, which `close` removes. */
export async function start(
  url: string,
  ports: Ports,
  more: Partial<RuntimeSettings> = {},
  roles: readonly ProcessRole[] = ["gateway", "authz", "control", "portal"],
): Promise<Runtime & { readonly lines: string[] }> {
  const lines: string[] = []
  const ownFolder = await mkdtemp(join(tmpdir(), "sallyport-spool-"))
  const removeOwn = () => rm(ownFolder, { recursive: true, force: true })
  const starting = startRuntime({
    database: { url },
    roles,
    control: { listen: { host: "127.0.0.1", port: ports.control }, token },
    env: { ANN_KEY: keyOf("ann"), BOB_KEY: keyOf("bob") },
    cwd: process.cwd(),
    version: "0.0.0",
    log: createLog({ stream: { write: (line) => void lines.push(line) } }),
    accessLog: false,
    spoolFolder: ownFolder,
    ...more,
  })
  starting.catch(removeOwn)
  const runtime = await starting
  const close = runtime.close.bind(runtime)
  return Object.assign(runtime, { lines, close: () => close().finally(removeOwn) })
}

/** Asks the control API; `body` undefined: GET. */
export async function control(
  ports: Ports,
  method: string,
  path: string,
  body?: unknown,
  authorization = `Bearer ${token}`,
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: Record<string, unknown> }> {
  const response = await fetch(`http://127.0.0.1:${ports.control}${path}`, {
    method,
    headers: { authorization, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const json = response.headers.get("content-type")?.includes("json") === true
  return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : { text } }
}

/** The subscription key of `ann` or `bob`. */
export function keyOf(name: string): string {
  return `key-of-${name}`
}

/** Asks the gateway, with the key of `who` if one is named: the body of a 200, else the status. */
export async function call(ports: Ports, path: string, who?: "ann" | "bob"): Promise<string> {
  const headers = who === undefined ? {} : { "x-api-key": keyOf(who) }
  const response = await fetch(`http://127.0.0.1:${ports.gateway}${path}`, { headers })
  const text = await response.text()
  return response.status === 200 ? text : String(response.status)
}
