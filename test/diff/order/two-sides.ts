import { Agent, type IncomingMessage, type ServerResponse, request as sendHttp } from "node:http"
import type { CheckRequest, TupleKey } from "../../../runtime/check/ports.ts"
import type { Plan } from "../../../runtime/plan/plan.ts"
import type { Authorizer } from "../../../runtime/policies/policy.ts"
import type { QuotaCounters } from "../../../runtime/policies/ports.ts"
import { authorizerOf } from "../../gateway/authorizer.ts"
import { type Running, type Seen, startGateway, startUpstream, type Upstream } from "../../gateway/harness.ts"
import { issuers, keyDraft, verifier } from "../../gateway/one-route.ts"
import { type PlanDraft, planOf, type RouteDraft } from "../../gateway/plan-builder.ts"
import { freePort } from "../../support/free-port.ts"

/** A request as a test sends it. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** All that anybody can see of a request: the answer, what backends and services were asked, which relations changed, what was logged and counted. */
export interface Trace {
  readonly answer: {
    readonly status: number
    readonly reason: string
    readonly fields: readonly string[]
    readonly body: string
  }
  /** In their order. */
  readonly events: readonly string[]
  /** Sorted: their order says nothing. */
  readonly told: readonly string[]
}

/** One gateway with its backends, service and engine. */
export class Side {
  readonly plan: Plan
  readonly #running: Running
  readonly #services: Services
  readonly #agent = new Agent({ keepAlive: false })
  readonly #notes: Notes

  private constructor(plan: Plan, running: Running, services: Services, notes: Notes) {
    this.plan = plan
    this.#running = running
    this.#services = services
    this.#notes = notes
  }

  static async start(services: Services, routes: readonly RouteDraft[]): Promise<Side> {
    const notes = new Notes()
    const port = await freePort()
    const draft: PlanDraft = { ...worldOf(services), port, routes: [...routes] }
    const running = await startGateway(
      { ...draft },
      {
        ...verifier,
        authorizerOf: () => engine(notes),
        quotas: countingQuotas(),
        environment: {
          S: "geheim, but not short",
          PW: "open sesame",
          KEY: "a key of sessions that is long enough",
        },
        now: () => 1_800_000_000_000,
        observer: {
          finished: () => undefined,
          traced: ({ source, severity, message }) => notes.told.push(`log ${source} ${severity} ${message}`),
          counted: (name, labels, value) =>
            notes.told.push(`metric ${name} ${JSON.stringify(labels)} ${value}`),
        },
      },
    )
    return new Side(planOf(draft), running, services, notes)
  }

  /** Sends a request, and waits for what it leaves behind. */
  async ask(asked: Asked): Promise<Trace> {
    this.#notes.clear()
    this.#services.changeOf(this.#notes)
    const answer = await this.#send(asked)
    // What is counted when an exchange is over is counted a turn after its last byte.
    await new Promise((resolve) => setImmediate(resolve))
    return { answer, events: [...this.#notes.events], told: [...this.#notes.told].sort() }
  }

  #send({ method, path, headers, body }: Asked): Promise<Trace["answer"]> {
    return new Promise((resolve, reject) => {
      const sent = sendHttp(
        {
          agent: this.#agent,
          port: this.#running.port,
          host: "127.0.0.1",
          method,
          path,
          headers: { ...headers, host: "gw.example" },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on("data", (chunk: Buffer) => chunks.push(chunk))
          response.on("error", reject)
          response.on("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              reason: response.statusMessage ?? "",
              fields: fieldsOf(response.rawHeaders),
              body: withoutId(Buffer.concat(chunks).toString("latin1")),
            }),
          )
        },
      )
      sent.on("error", (error) => resolve({ status: 0, reason: error.message, fields: [], body: "" }))
      sent.end(body)
    })
  }

  /** What plans of both sides declare. */
  static world(services: Services): Omit<PlanDraft, "port" | "routes"> {
    return worldOf(services)
  }

  async close(): Promise<void> {
    this.#agent.destroy()
    await this.#running.close()
  }

  /** Forgets what routes before have granted. */
  forget(): void {
    this.#notes.granted = new Set(grantedAtFirst)
  }
}

/** Ann may view order 1 and 7, and what was granted. */
const grantedAtFirst = ["user:ann viewer order:1", "user:ann viewer order:7"]

class Notes {
  readonly events: string[] = []
  readonly told: string[] = []
  granted = new Set(grantedAtFirst)

  clear(): void {
    this.events.length = 0
    this.told.length = 0
  }
}

const varying = /^(?:date|x-request-id|traceparent|connection|keep-alive)$/

/** Fields in the order of their names: lines of one name keep theirs. How much of a window is left changes by itself. */
function fieldsOf(raw: readonly string[]): string[] {
  const lines = raw.flatMap((name, at) =>
    at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1] ?? ""] as const] : [],
  )
  return lines
    .filter(([name]) => !varying.test(name))
    .map(([name, value], at) => ({ name, at, line: `${name}: ${steady(name, value)}` }))
    .sort((a, b) => (a.name === b.name ? a.at - b.at : a.name < b.name ? -1 : 1))
    .map(({ line }) => line)
}

function steady(name: string, value: string): string {
  if (name === "ratelimit") return value.replace(/t=\d+/, "t=…")
  return name === "retry-after" || name === "age" ? "…" : withoutId(value)
}

/** A step may put the body of a problem into a header. */
function withoutId(text: string): string {
  return text.replace(/"request_id":"[^"]*"/g, '"request_id":"…"')
}

/** Backends and a service for requests of our own, the same address for both sides: a plan names them. */
export class Services {
  readonly all: readonly Upstream[]
  readonly #told: { notes: Notes | undefined }

  private constructor(all: readonly Upstream[], told: { notes: Notes | undefined }) {
    this.all = all
    this.#told = told
  }

  static async start(): Promise<Services> {
    const told: { notes: Notes | undefined } = { notes: undefined }
    const note = (line: string) => told.notes?.events.push(line)
    const all = await Promise.all([
      startUpstream((request, response, seen) => backend("main", note, request, response, seen)),
      startUpstream((request, response, seen) => backend("other", note, request, response, seen)),
      startUpstream((request, response, seen) => service(note, request, response, seen)),
    ])
    return new Services(all, told)
  }

  /** Who is told of requests from now on. */
  changeOf(notes: Notes): void {
    this.#told.notes = notes
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((upstream) => upstream.close()))
  }

  urlOf(which: "main" | "other" | "service"): string {
    return this.all[["main", "other", "service"].indexOf(which)]?.url ?? ""
  }
}

function backend(
  name: string,
  note: (line: string) => void,
  request: IncomingMessage,
  response: ServerResponse,
  seen: Seen,
): void {
  request.on("end", () => {
    note(`${name} ${seen.method} ${seen.url} ${JSON.stringify(fieldsOf(seen.rawHeaders))} ${seen.body}`)
    const kind = String(request.headers["x-kind"] ?? "json")
    const bodies: Readonly<Record<string, readonly [string, string]>> = {
      json: [
        "application/json",
        '{"k":1,"t":"hidden internal","items":[{"id":"1"},{"id":"2"}],"usage":{"total_tokens":7}}',
      ],
      xml: ["application/xml", "<a><k>hidden</k></a>"],
      text: ["text/plain", `public internal ${request.headers.host ?? ""}`],
    }
    const [media, body] = bodies[kind] ?? ["text/plain", ""]
    response.writeHead(Number(request.headers["x-want"] ?? 200), {
      "content-type": media,
      "x-b": "2",
      etag: '"e"',
      "access-control-allow-origin": "https://b.example",
    })
    response.end(body)
  })
  request.resume()
}

/** What only reads is no event: that a judge is asked changes nothing. */
function service(
  note: (line: string) => void,
  request: IncomingMessage,
  response: ServerResponse,
  seen: Seen,
): void {
  request.on("end", () => {
    const json = (value: object) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value))
    if (seen.url.startsWith("/token")) json({ access_token: "made", token_type: "Bearer", expires_in: 3600 })
    else if (seen.url.startsWith("/introspect")) json({ active: !seen.body.includes("bad"), sub: "ann" })
    else if (seen.url.startsWith("/contentsafety"))
      json({ categoriesAnalysis: [{ category: "Hate", severity: seen.body.includes("hidden") ? 6 : 0 }] })
    else {
      note(`service ${seen.method} ${seen.url} ${JSON.stringify(fieldsOf(seen.rawHeaders))} ${seen.body}`)
      json({ n: 1 })
    }
  })
  request.resume()
}

function worldOf(services: Services): Omit<PlanDraft, "port" | "routes"> {
  const service = services.urlOf("service")
  return {
    ...keyDraft,
    issuers: issuers ?? {},
    secrets: { ...keyDraft.secrets, s: { env: "S" }, pw: { env: "PW" }, key: { env: "KEY" } },
    users: { partners: { users: [{ user: "ann", secret: "pw" }] } },
    introspections: { acme: { url: `${service}/introspect`, client: "gw", secret: "s", cacheSeconds: 0 } },
    oidcClients: {
      web: {
        ...{
          issuer: "acme",
          client: "web",
          scope: "openid",
          sessionKeys: [{ secret: "key" }],
          store: "cookie",
        },
        lifetimeSeconds: 3600,
        paths: { login: "/oauth2/login", callback: "/oauth2/callback", logout: "/oauth2/logout" },
      },
    },
    tokenClients: { own: { endpoint: { url: `${service}/token` }, client: "gw", secret: "s" } },
    stores: ["acme"],
    backends: { main: services.urlOf("main"), other: services.urlOf("other"), safety: service },
  } as Omit<PlanDraft, "port" | "routes">
}

function engine(notes: Notes): Authorizer {
  const keyOf = ({ user, relation, object }: CheckRequest | TupleKey) => `${user} ${relation} ${object}`
  return {
    ...authorizerOf((_store, request) => ({ allowed: notes.granted.has(keyOf(request)), revision: 0 })),
    async change(_store, action, tuple) {
      notes.events.push(`${action} ${keyOf(tuple)}`)
      if (action === "write") notes.granted.add(keyOf(tuple))
      else notes.granted.delete(keyOf(tuple))
    },
  }
}

function countingQuotas(): QuotaCounters {
  const used = new Map<string, number>()
  const nameOf = (counter: string, key: string) => `${counter} ${key}`
  return {
    take({ counter, callsMax }, key, _anchor, calls) {
      const name = nameOf(counter, key)
      const before = used.get(name) ?? 0
      if (callsMax !== undefined && before + Math.max(1, calls) > callsMax)
        return { allowed: false, out: "calls", resetSeconds: 60 }
      used.set(name, before + calls)
      return { allowed: true }
    },
    look: async ({ counter }, key) => ({
      calls: used.get(nameOf(counter, key)) ?? 0,
      bytes: 0,
      resetSeconds: 60,
    }),
    add({ counter }, key, _anchor, { calls }) {
      used.set(nameOf(counter, key), (used.get(nameOf(counter, key)) ?? 0) + calls)
    },
  }
}
