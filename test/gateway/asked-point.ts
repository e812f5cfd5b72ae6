import type { GatewayOptions } from "../../runtime/gateway/gateway.ts"
import type { PdpPlan } from "../../runtime/plan/resources.ts"
import { authorizerOf } from "./authorizer.ts"
import { type Answering, type Draft, startUpstream } from "./harness.ts"
import { cel, closers, issuers, jwt, parts, start, tokenOf, verifier } from "./one-route.ts"
import type { StepDraft } from "./plan-builder.ts"

export const ann = tokenOf({ sub: "ann", scope: "read", dept: "sales" })
export const user = { text: ["user:", ...parts(cel("jwt.sub"))] }
export const order = (expression: string) => ({ text: ["order:", ...parts(cel(expression))] })
export const dynamic = (text: string) => ({ lang: "cel", text, type: "dyn" }) as const
export const question = (more: object = {}): StepDraft =>
  ({ kind: "require", pdp: "corp", relation: "read", object: order("path.id"), user, ...more }) as StepDraft

export const pdpAt = (url: string, more: Partial<PdpPlan> = {}): PdpPlan => ({
  ...{ url, discover: false, timeoutMs: 5_000, cacheMs: 0, batchMax: 50 },
  tls: { insecure: false },
  ...more,
})

/** Answers every evaluation by what `decide` says of its resource's id. */
export const deciding =
  (decide: (id: string) => unknown): Answering =>
  (request, response, seen) => {
    request.on("end", () => {
      const body = JSON.parse(seen.body)
      const answer =
        body.evaluations === undefined
          ? decide(body.resource.id)
          : { evaluations: body.evaluations.map((each: typeof body) => decide(each.resource.id)) }
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer))
    })
  }
export const even = deciding((id) => ({ decision: Number(id) % 2 === 0 }))
export const saying =
  (text: string | Buffer, status = 200, headers: Record<string, string> = {}): Answering =>
  (request, response) => {
    request.resume()
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(text)
  }

/** Fails until it is mended. */
export function failing() {
  let broken = true
  const answer: Answering = (request, response, seen) =>
    (broken ? saying("{}", 500) : even)(request, response, seen)
  return {
    answer,
    mend() {
      broken = false
    },
  }
}

/** A gateway that asks a decision point; the engine must not be asked. */
export async function asking(
  answer: Answering,
  route: Parameters<typeof start>[0] = { inbound: [jwt, question()] },
  pdp: Partial<PdpPlan> = {},
  draft: Partial<Draft> = {},
  options: Partial<GatewayOptions> = {},
) {
  const point = await startUpstream(answer)
  closers.push(() => point.close())
  const world = await start(
    route,
    { issuers, pdps: { corp: pdpAt(point.url, pdp) }, ...draft },
    {
      ...verifier,
      authorizerOf: () => authorizerOf(() => Promise.reject(new Error("the engine was asked"))),
      ...options,
    },
  )
  const ask = async (id = "8", headers = ann) => (await world.get(`/a/${id}`, headers)).status
  return { ...world, point, ask }
}

export const bodies = (requests: readonly { readonly body: string }[]) =>
  requests.map(({ body }) => JSON.parse(body))
