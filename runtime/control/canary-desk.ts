import type { FastifyInstance, FastifyReply } from "fastify"
import type { CanaryEnding, StoredCanary } from "../store/canaries.ts"
import { type CanaryAnswer, canaryEndRequest, canaryRequest, type PlanAnswer } from "./api.ts"
import { bodyOf } from "./body.ts"
import { canaryRecordOf, countsOf } from "./canary-records.ts"
import { outsideCanary } from "./canary-scope.ts"
import { operatorOf } from "./operators.ts"
import { sendStale } from "./plan-base.ts"
import { type Admitted, admitOffer, type Offer, offerOf, type PlanCall, sendRefused, whoIs } from "./plans.ts"
import type { ControlPorts } from "./ports.ts"
import { sendProblem } from "./problem.ts"

/** `GET|POST /v1/canary`, `POST /v1/canary/promote`, `POST /v1/canary/cancel`: a plan that serves a share of the callers. */
export function addCanaryRoutes(app: FastifyInstance, ports: ControlPorts): void {
  app.get("/v1/canary", async (): Promise<CanaryAnswer> => {
    const found = await ports.canaries.newest()
    if (found === undefined) return { canary: null, verdict: null, processes: [] }
    const { canary, reports, verdict = null } = found
    return {
      canary: canaryRecordOf(canary, canary.state === "running" ? countsOf(reports) : undefined),
      verdict,
      processes: reports.map(({ name, error, reportedAt }) => ({
        ...{ name, error: error || null, reportedAt: reportedAt.toISOString() },
      })),
    }
  })
  app.post("/v1/canary", async (request, reply) => {
    const body = bodyOf(canaryRequest, request.body, reply)
    if (body === undefined) return reply
    const offer = offerOf(body, reply)
    if (offer === undefined) return reply
    const admitted = await admitOffer(ports, offer, { request, reply })
    if (admitted === undefined) return reply
    const { percent, seconds, limits } = body
    const terms = { percent, seconds, limits: JSON.stringify(limits) }
    return begin(ports, { offer, admitted, terms }, { request, reply })
  })
  app.post("/v1/canary/promote", async (request, reply) => end(ports, "promoted", { request, reply }))
  app.post("/v1/canary/cancel", async (request, reply) => end(ports, "cancelled", { request, reply }))
}

/** A canary that may begin. */
interface Beginning {
  readonly offer: Offer
  readonly admitted: Admitted
  readonly terms: Pick<StoredCanary, "percent" | "seconds" | "limits">
}

async function begin(
  ports: ControlPorts,
  { offer, admitted, terms }: Beginning,
  { reply }: PlanCall,
): Promise<unknown> {
  const { plan } = offer
  const { running, origin, changesTrust } = admitted
  if (running === undefined)
    return sendProblem(reply, "conflict", "no plan was applied yet, so no callers are there to share")
  if (running.record.digest === plan.digest)
    return sendProblem(reply, "conflict", `serial ${running.record.serial} is running and is the same plan`)
  const outside = partsOutside(running, plan, changesTrust)
  if (outside.length > 0)
    return sendProblem(
      reply,
      "refused",
      `the plan changes ${outside.join(", ")}: the callers of both plans share that, so a canary cannot try it. Apply this change for all callers first`,
    )
  const { serial, stamp } = running.record
  const { who, commit, message, provenance } = origin
  const begun = await ports.canaries.begin({
    ...{ base: { serial, stamp }, plan, ...terms },
    ...{ appliedBy: who, gitCommit: commit ?? "", message: message ?? "" },
    provenance: provenance === undefined ? undefined : JSON.stringify(provenance),
  })
  if (begun.kind === "refused") return sendRefused(reply, begun.problems)
  if (begun.kind === "busy") return sendProblem(reply, "conflict", "another canary has begun meanwhile")
  if (begun.kind === "stale") return sendStale(reply, offer.base, (await ports.current())?.record ?? null)
  const canary = canaryRecordOf(begun.canary)
  ports.notify({ type: "canary.started", data: canary })
  return { canary }
}

function partsOutside(running: PlanAnswer, plan: Offer["plan"], changesTrust: boolean): string[] {
  const parts = outsideCanary(running.plan.plan, plan.plan)
  return changesTrust && !parts.includes("`control`") && !parts.includes("`change`")
    ? [...parts, "an issuer or value of `control`"]
    : parts
}

/** The canary is named, so that a caller who looked at another one ends nothing. */
async function end(
  ports: ControlPorts,
  state: "promoted" | "cancelled",
  { request, reply }: PlanCall,
): Promise<FastifyReply | object> {
  const body = bodyOf(canaryEndRequest, request.body, reply)
  if (body === undefined) return reply
  const found = await ports.canaries.newest()
  if (found === undefined || found.canary.id !== body.id)
    return sendProblem(reply, "not-found", `\`${body.id}\` is not the canary that began last`)
  const { canary, reports } = found
  const { author } = body
  const ending: CanaryEnding = {
    ...{ state, by: whoIs(operatorOf(request.raw), author), reason: author.message ?? "" },
    counts: JSON.stringify(countsOf(reports)),
  }
  const ended = canary.state === "running" ? await ports.canaries.end(canary, ending) : undefined
  if (ended !== undefined) return { canary: canaryRecordOf(ended) }
  const now = (await ports.canaries.newest())?.canary ?? canary
  const how = now.state === "running" ? "its plan is no longer over the newest one" : `it was ${now.state}`
  return sendProblem(reply, "conflict", `the canary cannot be ${state}: ${how}`)
}
