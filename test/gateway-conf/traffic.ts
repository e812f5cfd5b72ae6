import type { MemoryFiles } from "../../compiler/core/files.ts"
import { createMemoryCache } from "../../runtime/cache/memory.ts"
import { createGateway } from "../../runtime/gateway/gateway.ts"
import type { Observer } from "../../runtime/gateway/observer.ts"
import { createVerifier } from "../../runtime/identity/issuer.ts"
import { createKeyTable } from "../../runtime/identity/keys.ts"
import { createMemoryLimiter } from "../../runtime/limits/memory.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { compile } from "../compile.ts"
import { authorizerOf } from "../gateway/authorizer.ts"
import { type Answering, type RawAnswer, type Seen, sendRaw, startUpstream } from "../gateway/harness.ts"
import { freePort } from "../support/free-port.ts"

/** Fields that differ from run to run, or say nothing of the configuration. */
const unsaid: ReadonlySet<string> = new Set([
  "connection",
  "date",
  "keep-alive",
  "x-request-id",
  "content-length",
  "transfer-encoding",
])
/** Fields every backend gets. */
const everywhere: ReadonlySet<string> = new Set([...unsaid, "host", "via", "accept-encoding"])

/**
 * Serves `gateway.conf`, sends it the `requests` of a case one after the other, and tells what backends got, what was logged and counted, and what was
 * answered. Every backend is one server, whatever the port: `backend` has a line for each path it knows, others are 200 `ok`.
 */
export async function trafficOf(files: MemoryFiles, sections: ReadonlyMap<string, string>): Promise<string> {
  const { plan } = compile(files, "gateway.conf")
  if (plan === undefined) return "(no plan)"
  const upstream = await startUpstream(answering(sections.get("backend") ?? ""))
  const told: string[] = []
  const gateway = createGateway({ ...dependencies(), observer: tellingObserver(told) })
  try {
    const port = await freePort()
    await gateway.apply(moved(plan, port, upstream.url))
    const blocks: string[] = []
    const expected = (sections.get("traffic") ?? "")
      .split(/^> .*$/m)
      .slice(1)
      .map((block) => block.match(/^ {2}backend: /gm)?.length ?? 0)
    for (const request of (sections.get("requests") ?? "").split(/^---\n/m)) {
      upstream.requests.length = 0
      told.length = 0
      const answer = await sendRaw(port, bytesOf(request), 120)
      await arrived(upstream.requests, expected[blocks.length] ?? 0)
      const seen = upstream.requests.map(seenLines).sort()
      blocks.push(
        [`> ${request.split("\n", 1)[0]}`, ...seen, ...told.sort(), ...answerLines(answer)].join("\n"),
      )
    }
    return blocks.join("\n\n").replaceAll(new URL(upstream.url).host, "backend")
  } finally {
    await gateway.close(0)
    await upstream.close()
  }
}

/** Time stands still, so that ages are the same in every run. */
const now = (): number => 1_000_000

function dependencies(): Omit<Parameters<typeof createGateway>[0], "observer"> {
  return {
    createVerifier: (settings) => createVerifier(settings),
    createKeyTable,
    limiter: createMemoryLimiter({ now }),
    quotas: { take: () => ({ allowed: true }), add: () => undefined },
    authorizerOf: () => authorizerOf(() => ({ allowed: false, revision: 0 })),
    cache: createMemoryCache({ now }),
    now,
    environment: { PARTNER: "sesame" },
    folder: process.cwd(),
  }
}

function tellingObserver(told: string[]): Observer {
  return {
    finished: ({ cause }) => {
      if (cause !== undefined) told.push(`  cause: ${cause}`)
    },
    traced: ({ severity, source, message }) => told.push(`  log: ${severity} ${source}: ${message}`),
    counted: (name, labels, value) => told.push(`  metric: ${name} ${JSON.stringify(labels)} ${value}`),
  }
}

/** What nobody waits for may come later than the answer. */
async function arrived(requests: readonly Seen[], expected: number): Promise<void> {
  for (let left = 300; left > 0; left -= 1) {
    if (requests.length >= expected && requests.every(({ complete }) => complete)) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Whatever was written, the gateway listens where nobody does and all backends are the one. */
function moved(plan: Plan, port: number, backend: string): Plan {
  const text = JSON.stringify(plan).replaceAll(/http:\/\/127\.0\.0\.1:9\d{3}/g, backend)
  const copy = JSON.parse(text) as Plan
  const { gateway } = copy.plan
  if (gateway === null) return copy
  return {
    ...copy,
    plan: { ...copy.plan, gateway: { ...gateway, listen: [{ host: "127.0.0.1", port }] } },
  }
}

/** `/path STATUS[,STATUS…] media/type body`: one status after the other, the last one stays. `BACKEND` is the address of the backend itself. */
function answering(text: string): Answering {
  const rules = text.split("\n").flatMap((line) => {
    const found = /^(\S+) ([\d,]+) (\S+) ?(.*)$/.exec(line)
    if (found === null) return []
    const [, path = "", statuses = "", media = "", body = ""] = found
    return [{ path, statuses: statuses.split(",").map(Number), media, body }]
  })
  return (request, response) => {
    const rule = rules.find(({ path }) => (request.url ?? "").startsWith(path))
    request.resume().once("end", () => {
      const { statuses, media, ...rest } = rule ?? { statuses: [200], media: "text/plain", body: "ok" }
      const body = rest.body.replaceAll("BACKEND", `127.0.0.1:${request.socket.localPort}`)
      const status = (statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 200
      const headers = {
        "content-type": media,
        "content-length": Buffer.byteLength(body),
        ...(status >= 300 && status < 400 ? { location: body } : {}),
      }
      response.writeHead(status, headers).end(body)
    })
  }
}

/** First line, headers, and behind an empty line the body, which tells its own length. */
function bytesOf(request: string): string {
  const [head = "", ...rest] = request.trimEnd().split("\n\n")
  const [line = "", ...headers] = head.split("\n")
  const body = rest.join("\n\n")
  const length = body === "" ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  return `${[`${line} HTTP/1.1`, "Host: gw", ...headers, ...length].join("\r\n")}\r\n\r\n${body}`
}

function seenLines({ method, url, headers, body }: Seen): string {
  const fields = Object.entries(headers).filter(
    ([name]) => !everywhere.has(name) && !name.startsWith("x-forwarded"),
  )
  const said = fields.map(([name, value]) => `\n    ${name}: ${String(value)}`).join("")
  return `  backend: ${method} ${url}${said}${body === "" ? "" : `\n    | ${body}`}`
}

function answerLines({ head, headers, body }: RawAnswer): string[] {
  const fields = [...headers].filter(([name]) => !unsaid.has(name))
  const text = body.replace(/"request_id":"[^"]*"/, '"request_id":"…"')
  return [
    `< ${head.split("\r\n", 1)[0]?.replace("HTTP/1.1 ", "")}`,
    ...fields.map(([name, value]) => `  ${name}: ${value}`),
    ...(text === "" ? [] : [`  | ${text}`]),
  ]
}
