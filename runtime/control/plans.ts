import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import type * as z from "zod"
import { digestOf } from "../plan/canonical.ts"
import type { Plan } from "../plan/plan.ts"
import { readPlan } from "../plan/read.ts"
import type { PlanBase } from "../store/plans.ts"
import { type Author, applyRequest, type PlanAnswer, rollbackRequest } from "./api.ts"
import { bodyOf } from "./body.ts"
import { admitChange, ChangeRefused, type Proposal } from "./change-gate.ts"
import { type Operator, operatorOf } from "./operators.ts"
import { isBase, sendStale } from "./plan-base.ts"
import type { ApplyOrigin, ApplyProblem, ControlPorts } from "./ports.ts"
import { type ProblemKind, sendProblem } from "./problem.ts"
import { covers } from "./routes.ts"

const historyDefault = 20
const historyMax = 500

/**
 * `GET|PUT /v1/plan`, `GET /v1/plans`, `GET /v1/plans/{serial}`, `POST /v1/rollback`. They accept compiled plans only: the runtime has no
 * compiler.
 */
export function addPlanRoutes(app: FastifyInstance, ports: ControlPorts): void {
  app.get("/v1/plan", async (_, reply) => {
    const found = await ports.current()
    return found ?? sendProblem(reply, "not-found", "no plan was applied yet")
  })
  app.get<{ Params: { serial: string } }>("/v1/plans/:serial", async (request, reply) => {
    const serial = serialOf(request.params.serial)
    const found = serial === undefined ? undefined : await ports.plan(serial)
    return found ?? sendProblem(reply, "not-found", `there is no plan with serial ${request.params.serial}`)
  })
  app.get<{ Querystring: { limit?: string } }>("/v1/plans", async (request, reply) => {
    const limit = request.query.limit === undefined ? historyDefault : serialOf(request.query.limit)
    if (limit === undefined || limit > historyMax)
      return sendProblem(reply, "bad-request", `\`limit\` must be a number from 1 to ${historyMax}`)
    const canaries = await ports.canaries.list(limit)
    return { history: await ports.historyIdentity(), plans: await ports.history(limit), canaries }
  })
  app.put("/v1/plan", async (request, reply) => {
    const body = bodyOf(applyRequest, request.body, reply)
    if (body === undefined) return reply
    const offer = offerOf(body, reply)
    return offer === undefined ? reply : apply(ports, offer, { request, reply })
  })
  app.post("/v1/rollback", async (request, reply) => {
    const body = bodyOf(rollbackRequest, request.body, reply)
    if (body === undefined) return reply
    const old = await ports.plan(body.serial)
    if (old === undefined)
      return sendProblem(reply, "not-found", `there is no plan with serial ${body.serial}`)
    const read = readPlan(old.plan)
    if ("problems" in read) {
      const detail = `plan ${body.serial} cannot be read: it was stored by another version of Sallyport, or changed since`
      return sendProblem(reply, "plan-invalid", detail, { problems: [...read.problems] })
    }
    const { seal, signature } = old.record.provenance ?? {}
    const { author, allow } = body
    const offer = { plan: read.plan, base: baseOf(body), author, seal, signature, allow, isRollback: true }
    return apply(ports, offer, { request, reply })
  })
}

/** The plan of a body. Undefined: it is not valid, and the reply was sent. */
export function offerOf(body: z.infer<typeof applyRequest>, reply: FastifyReply): Offer | undefined {
  const read = readPlan(body.plan)
  if ("problems" in read) {
    sendProblem(reply, "plan-invalid", read.problems[0]?.message ?? "", { problems: [...read.problems] })
    return undefined
  }
  const { author, seal, signature, allow } = body
  return { plan: read.plan, base: baseOf(body), author, seal, signature, allow, isRollback: false }
}

function baseOf({
  base,
  baseStamp,
}: {
  base: number | null
  baseStamp?: string | undefined
}): PlanBase | null {
  return base === null ? null : { serial: base, stamp: baseStamp }
}

/** Where a plan comes from, and what the caller says about it. */
export interface Offer extends Omit<Proposal, "operator" | "changesTrust"> {
  readonly base: PlanBase | null
  readonly author: Author
}

/** A request with its reply. */
export interface PlanCall {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** An offer that the running plan allows. */
export interface Admitted {
  readonly running: PlanAnswer | undefined
  readonly origin: ApplyOrigin
  readonly changesTrust: boolean
}

/** Checks whether the caller may let this plan replace the running one, by the rules of the running one. Undefined: the reply was sent. */
export async function admitOffer(
  ports: ControlPorts,
  offer: Offer,
  { request, reply }: PlanCall,
): Promise<Admitted | undefined> {
  const { plan, author } = offer
  const refuse = (kind: ProblemKind, detail: string, extra = {}) => {
    sendProblem(reply, kind, detail, extra)
    return undefined
  }
  const operator = operatorOf(request.raw)
  const running = await ports.current()
  const changesTrust = trustOf(plan) !== trustOf(running?.plan)
  if (operator.role !== "admin" && changesTrust)
    return refuse(
      "forbidden",
      "the plan changes who may operate Sallyport or change its plan: its `control` or `change` block, or an issuer or value that it uses. Only the role `admin` may apply it",
    )
  if (offer.allow.length > 0 && operator.may !== undefined && !covers(operator.may, "plan.consent"))
    return refuse("forbidden", `the token \`${operator.name}\` may not consent: that is \`plan.consent\``)
  if (!isBase(offer.base, running?.record)) {
    sendStale(reply, offer.base, running?.record ?? null)
    return undefined
  }
  const canary = await ports.canaries.running()
  if (canary !== undefined)
    return refuse(
      "conflict",
      `a canary of ${canary.appliedBy} runs over serial ${canary.base.serial} since ${canary.startedAt.toISOString()}: promote or cancel it first`,
    )
  try {
    const provenance = await admitChange(ports, { ...offer, operator, changesTrust }, running)
    // The name of a person or of a token was proved; with the shared token, the caller says who it is.
    const who = whoIs(operator, author)
    return { running, origin: { ...author, who, provenance }, changesTrust }
  } catch (error) {
    if (error instanceof ChangeRefused) return refuse(error.kind, error.message, error.extra)
    throw error
  }
}

/** The name for the history. */
export function whoIs({ kind, name }: Operator, author: Author): string {
  return kind === "shared" ? author.who : name.slice(0, 200)
}

/** Applies a plan and answers with the outcome. */
async function apply(ports: ControlPorts, offer: Offer, call: PlanCall): Promise<unknown> {
  const admitted = await admitOffer(ports, offer, call)
  const { reply } = call
  if (admitted === undefined) return reply
  const { running, origin } = admitted
  // With the stamp, so that exactly the plan is replaced whose rules were kept.
  const base = running === undefined ? null : { serial: running.record.serial, stamp: running.record.stamp }
  const outcome = await ports.apply(offer.plan, base, origin)
  if (outcome.kind === "done") {
    if (outcome.answer.applied) ports.notify({ type: "plan.applied", data: outcome.answer.record })
    return outcome.answer
  }
  if (outcome.kind === "stale") return sendStale(reply, base, outcome.current)
  return sendRefused(reply, outcome.problems)
}

/** Answers that this process cannot run a plan. */
export function sendRefused(reply: FastifyReply, found: readonly ApplyProblem[]): FastifyReply {
  const problems = found.map(({ path, message, origin }) => ({
    path,
    message,
    ...(origin === undefined ? {} : { origin }),
  }))
  return sendProblem(reply, "plan-refused", found[0]?.message ?? "", { problems })
}

/** Everything in a plan that decides who the operators are and what a change needs, as one text. */
function trustOf(plan: Plan | undefined): string {
  const { control, change, issuers = {}, values = {}, secrets = {} } = plan?.plan ?? {}
  const used = Object.keys(control?.issuers ?? {}).map((name) => [name, issuers[name]])
  // Issuers may be made of values, and their keys of secrets.
  const own = { control: control ?? null, change: change ?? null, used }
  return digestOf({ ...own, ...(used.length === 0 ? {} : { values, secrets }) })
}

function serialOf(text: string): number | undefined {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined
}
