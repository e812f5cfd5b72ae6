import { createHmac } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { CheckRequest } from "../../runtime/check/ports.ts"
import type { Gateway } from "../../runtime/gateway/gateway.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { ProcessRecording } from "../../runtime/process/recording.ts"
import { openRecord } from "../../runtime/record/read-record.ts"
import type { RecordedRequest } from "../../runtime/record/recorded-request.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { Metrics } from "../../runtime/telemetry/metrics.ts"
import { compile } from "../compile.ts"
import { authorizerOf } from "../gateway/authorizer.ts"
import { type Answering, newGateway, startUpstream } from "../gateway/harness.ts"
import { freePort } from "../support/free-port.ts"

export const environment = {
  TRAFFIC_KEY: "a secret for the record of traffic",
  ISSUER_KEY: "a secret that signs the tokens of tests!",
  PARTNER_KEY: "the-key-of-the-partner",
}

/** The project whose requests are recorded. `rules`: statements of `record`; `api`: statements of the API. */
export interface RecordedProject {
  readonly port: number
  readonly backend: string
  readonly rules?: string
  readonly api?: string
  readonly gateway?: string
}

const usualApi = `
  auth jwt own
  backend orders
  GET "/orders/{id}" { require viewer of "order:\${path.id}" for "user:\${jwt.sub}" in shop }
  GET "/open" { auth none }
  GET "/partner" { auth subscription { header "x-partner-key"; query "partner-key" } }
`

/** The text of the project. */
export function projectText({
  port,
  backend,
  rules = "",
  api = usualApi,
  gateway = "",
}: RecordedProject): string {
  return `
    gateway edge {
      listen 127.0.0.1:${port}; trust none
      record { folder "traffic"; encrypt-with traffic_key; sample 100%; ${rules} }
      ${gateway}
    }
    authz { listen 127.0.0.1:1; store shop { model "shop.fga" } }
    secret traffic_key = env(TRAFFIC_KEY)
    secret issuer_key = env(ISSUER_KEY)
    secret partner_key = env(PARTNER_KEY)
    issuer own { key secret issuer_key; issuer "https://own.example"; audience "api" }
    subscription partner { api *; key partner_key }
    backend orders { url "${backend}" }
    api shop { path "/shop"; ${api} }`
}

export const model = `model
  schema 1.1
type user
type order
  relations
    define viewer: [user]
    define editor: [user]
`

/** Compiles a project. */
export function planOfText(text: string): Plan {
  const files = new MemoryFiles([
    ["gateway.conf", text],
    ["shop.fga", model],
  ])
  const { plan, diagnostics } = compile(files, "gateway.conf")
  if (plan === undefined) throw new Error(JSON.stringify(diagnostics.map(({ detail }) => detail)))
  return plan
}

/** A token of the issuer `own`. */
export function tokenOf(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
  const exp = Math.floor(Date.now() / 1000) + 3_600
  const input = `${part({ alg: "HS256", typ: "JWT" })}.${part({ iss: "https://own.example", aud: "api", exp, ...claims })}`
  return `${input}.${createHmac("sha256", environment.ISSUER_KEY).update(input).digest("base64url")}`
}

/** A gateway that records its requests. */
export interface RecordedGateway {
  readonly gateway: Gateway
  readonly plan: Plan
  readonly project: RecordedProject
  readonly folder: string
  readonly url: string
  readonly metrics: Metrics
  /** Status of the response to a request. */
  ask(target: string, headers?: Readonly<Record<string, string>>, body?: string): Promise<number>
  /** Ends the gateway, and reads what it recorded. */
  recorded(): Promise<readonly RecordedRequest[]>
  close(): Promise<void>
}

/** Starts one. `user:ann` is viewer of `order:1`. */
export async function startRecorded(
  parts: Partial<RecordedProject> = {},
  answer?: Answering,
): Promise<RecordedGateway> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-recorded-"))
  const [upstream, port] = [await startUpstream(answer), await freePort()]
  const metrics = new Metrics()
  const recording = new ProcessRecording(createLog({ level: "silent" }), metrics)
  const project = { port, backend: upstream.url, ...parts }
  const gateway = newGateway({
    ...{ environment, folder, openRecorder: recording.open },
    authorizerOf: () =>
      authorizerOf((_store: string, { user, object }: CheckRequest) => ({
        ...{ allowed: user === "user:ann" && object === "order:1", revision: 1, stamp: "s" },
      })),
  })
  const plan = planOfText(projectText(project))
  await gateway.apply(plan)
  const url = `http://127.0.0.1:${port}`
  return {
    ...{ gateway, plan, project, folder, url, metrics },
    async ask(target, headers = {}, body) {
      const method = body === undefined ? "GET" : "POST"
      const response = await fetch(url + target, { method, headers, ...(body === undefined ? {} : { body }) })
      await response.arrayBuffer()
      return response.status
    },
    async recorded() {
      await gateway.close(1_000)
      await recording.close()
      const { requests } = await openRecord(join(folder, "traffic"), environment.TRAFFIC_KEY)
      const found: RecordedRequest[] = []
      for await (const request of requests()) found.push(request)
      return found
    },
    async close() {
      await gateway.close(0)
      await recording.close()
      await upstream.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The same for one test, at whose end it is closed. */
export async function startForTest(...parts: Parameters<typeof startRecorded>): Promise<RecordedGateway> {
  const gateway = await startRecorded(...parts)
  onTestFinished(() => gateway.close())
  return gateway
}

/** The header field with a token of `own`. */
export const bearer = (claims: object) => ({ authorization: `Bearer ${tokenOf(claims)}` })
