import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import type * as z from "zod"
import { canonicalJson } from "../plan/canonical.ts"
import type { PlanBody } from "../plan/plan.ts"
import { outageRollbackRequest, type PlanAnswer } from "./api.ts"
import { aboutRequest, isBegunInJournal } from "./audit.ts"
import { bodyOf } from "./body.ts"
import { ChangeRefused, rulesOf } from "./change-gate.ts"
import { operatorOf } from "./operators.ts"
import { sendRefused, whoIs } from "./plans.ts"
import type { ControlPorts, OutagePorts, OutageRollback, PlanPlace, RunningPlan } from "./ports.ts"
import { sendProblem } from "./problem.ts"

type RollbackBody = z.infer<typeof outageRollbackRequest>

/**
 * `GET /v1/kept-plans`, `GET /v1/kept-plans/{serial}` and `POST /v1/rollback/without-database`: an earlier plan for this process alone, while the database is
 * unavailable. Its row of the audit log is on disk before anything changes.
 */
export function addOutageRoutes(app: FastifyInstance, ports: ControlPorts): void {
  app.get("/v1/kept-plans", async (_, reply) => {
    const { outage } = ports
    if (outage === undefined) return keepsNone(reply)
    return { running: outage.running()?.place ?? null, plans: await outage.kept() }
  })
  app.get<{ Params: { serial: string } }>("/v1/kept-plans/:serial", async (request, reply) => {
    const { outage } = ports
    if (outage === undefined) return keepsNone(reply)
    return (await keptPlan(outage, request.params.serial, reply)) ?? reply
  })
  app.post("/v1/rollback/without-database", async (request, reply) => {
    const body = bodyOf(outageRollbackRequest, request.body, reply)
    if (body === undefined) return reply
    const { outage } = ports
    if (outage === undefined) return keepsNone(reply)
    if (!isBegunInJournal(request))
      return sendProblem(
        reply,
        "conflict",
        `the database answers: use \`sallyport rollback ${body.serial}\`, which changes all processes`,
      )
    const target = await keptPlan(outage, String(body.serial), reply)
    return target === undefined ? reply : rollBack(ports, outage, { body, target, request, reply })
  })
}

interface RollbackCall {
  readonly body: RollbackBody
  readonly target: PlanAnswer
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

async function rollBack(
  { enforcesChangeRules }: Pick<ControlPorts, "enforcesChangeRules">,
  outage: OutagePorts,
  { body, target, request, reply }: RollbackCall,
): Promise<unknown> {
  const running = outage.running()
  if (running === undefined || !isNamed(running.place, body))
    return sendStaleHere(reply, body, running?.place)
  const reason =
    refusalOf(outage, running, target.plan.plan, enforcesChangeRules) ??
    (body.despiteCanary === true ? undefined : canaryRefusal(outage))
  if (reason !== undefined) return sendProblem(reply, "refused", `${reason}; nothing was changed`)
  if (running.place.digest === target.plan.digest)
    return sendProblem(reply, "conflict", `plan ${running.place.serial} is served, and has the same content`)
  const outcome = await outage.rollBack({
    target,
    from: { serial: running.place.serial, stamp: running.place.stamp },
    note: (from) => noted(outage, from, { body, target, request, reply }),
  })
  if (outcome.kind === "refused") return sendRefused(reply, outcome.problems)
  if (outcome.kind === "stale") return sendStaleHere(reply, body, outcome.running)
  const { base, to, who, message, at } = outcome.rollback
  return { base, to, who, message, at }
}

/** The row of the journal that says which plan this process serves, also after a restart. */
async function noted(
  outage: OutagePorts,
  { base, place: from }: RunningPlan,
  { body, target, request }: RollbackCall,
): Promise<OutageRollback> {
  const { author } = body
  const { serial, stamp, digest } = target.record
  const to = { serial, stamp, digest }
  const who = whoIs(operatorOf(request.raw), author)
  const { commit, message } = author
  await outage.append({
    ...aboutRequest(request),
    event: "rolled-back",
    details: { base, from, to, who, commit, message },
  })
  return { base, to, who, message, at: new Date().toISOString() }
}

/** Why the target may not replace the running plan while the database is unavailable; undefined: it may. */
function refusalOf(
  outage: Pick<OutagePorts, "refusedSerial">,
  { place, body: running }: RunningPlan,
  target: PlanBody,
  enforcesChangeRules: boolean,
): string | undefined {
  const refused = outage.refusedSerial()
  if (refused !== null)
    return `plan ${refused} is newer than the plan that this process serves, and its rules for changes cannot be read here`
  if (enforcesChangeRules) {
    const rules = rulesText(running)
    if (rules !== undefined)
      return `\`change\` of plan ${place.serial} has ${rules}, which cannot be checked without the database`
  }
  if (storesOf(running) !== storesOf(target))
    return "the plans declare different stores or models, and the stores cannot follow without the database"
  return undefined
}

/** A canary compares the running plan with its own, so another plan beside it needs a consent. */
function canaryRefusal(outage: Pick<OutagePorts, "knownCanary">): string | undefined {
  switch (outage.knownCanary()) {
    case "none":
      return undefined
    case "running":
      return "a canary ran when the database last answered, and whether it is over cannot be known (--despite-canary rolls back anyway)"
    case "unknown":
      return "this process has not reached the database since its start, so whether a canary runs cannot be known (--despite-canary rolls back anyway)"
  }
}

/** The rules that need the database. Rules that this version cannot read allow nothing. */
function rulesText(body: PlanBody): string | undefined {
  try {
    const { consents = [], signers = [] } = rulesOf({ plan: body })
    const found = [...(consents.length > 0 ? ["consents"] : []), ...(signers.length > 0 ? ["signers"] : [])]
    return found.length === 0 ? undefined : found.join(" and ")
  } catch (error) {
    if (error instanceof ChangeRefused) return "rules that this version cannot read"
    throw error
  }
}

/** Everything that decides what is in the stores, as one text. */
function storesOf({ authz, models }: PlanBody): string {
  return canonicalJson({ stores: authz?.stores ?? {}, models })
}

function isNamed(place: PlanPlace, { base, baseStamp }: RollbackBody): boolean {
  return place.serial === base && (baseStamp === undefined || baseStamp === place.stamp)
}

function sendStaleHere(
  reply: FastifyReply,
  { base }: RollbackBody,
  place: PlanPlace | undefined,
): FastifyReply {
  const now = place === undefined ? "serves no plan of the history" : `serves serial ${place.serial}`
  return sendProblem(
    reply,
    "plan-stale",
    `the plan was compared with serial ${base}, but this process ${now}; nothing was changed`,
  )
}

function keepsNone(reply: FastifyReply): FastifyReply {
  return sendProblem(
    reply,
    "refused",
    "this process keeps no plans on disk: SALLYPORT_KEEP_PLAN is off, its plan is from a file, or its database is embedded",
  )
}

/** Undefined: it is not kept, and the reply was sent. */
async function keptPlan(
  outage: Pick<OutagePorts, "find" | "kept">,
  serial: string,
  reply: FastifyReply,
): Promise<PlanAnswer | undefined> {
  const found = /^[1-9]\d{0,14}$/.test(serial) ? await outage.find(Number(serial)) : undefined
  if (typeof found === "object") return found
  const kept = (await outage.kept()).map((record) => record.serial)
  const known = kept.length === 0 ? "it keeps none" : `it keeps ${kept.join(", ")}`
  sendProblem(
    reply,
    found === undefined ? "not-found" : "refused",
    found ?? `this process does not keep a plan with serial ${serial} on disk; ${known}`,
  )
  return undefined
}
