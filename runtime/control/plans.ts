import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import { digestOf } from "../plan/canonical.ts"
import type { Plan } from "../plan/plan.ts"
import { readPlan } from "../plan/read.ts"
import type { PlanBase } from "../store/plans.ts"
import { type Author, applyRequest, type Provenance, rollbackRequest } from "./api.ts"
import { bodyOf } from "./body.ts"
import { admitChange, ChangeRefused, type Proposal } from "./change-gate.ts"
import { operatorOf } from "./operators.ts"
import { isBase, sendStale } from "./plan-base.ts"
import type { ControlPorts } from "./ports.ts"
import { sendProblem } from "./problem.ts"
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
    return { history: await ports.historyIdentity(), plans: await ports.history(limit) }
  })
  app.put("/v1/plan", async (request, reply) => {
    const body = bodyOf(applyRequest, request.body, reply)
    if (body === undefined) return reply
    const read = readPlan(body.plan)
    if ("problems" in read) {
      return sendProblem(reply, "plan-invalid", read.problems[0]?.message ?? "", {
        problems: [...read.problems],
      })
    }
    const { author, seal, signature, allow } = body
    const offer = { plan: read.plan, base: baseOf(body), author, seal, signature, allow, isRollback: false }
    return apply(ports, offer, { request, reply })
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
interface Offer extends Omit<Proposal, "operator" | "changesTrust"> {
  readonly base: PlanBase | null
  readonly author: Author
}

/** Applies a plan and answers with the outcome. */
async function apply(
  ports: ControlPorts,
  offer: Offer,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<unknown> {
  const { plan, author } = offer
  const operator = operatorOf(request.raw)
  const running = await ports.current()
  const changesTrust = trustOf(plan) !== trustOf(running?.plan)
  if (operator.role !== "admin" && changesTrust)
    return sendProblem(
      reply,
      "forbidden",
      "the plan changes who may operate Sallyport or change its plan: its `control` or `change` block, or an issuer or value that it uses. Only the role `admin` may apply it",
    )
  if (offer.allow.length > 0 && operator.may !== undefined && !covers(operator.may, "plan.consent"))
    return sendProblem(
      reply,
      "forbidden",
      `the token \`${operator.name}\` may not consent: that is \`plan.consent\``,
    )
  if (!isBase(offer.base, running?.record)) return sendStale(reply, offer.base, running?.record ?? null)
  let provenance: Provenance | undefined
  try {
    provenance = await admitChange(ports, { ...offer, operator, changesTrust }, running)
  } catch (error) {
    if (error instanceof ChangeRefused) return sendProblem(reply, error.kind, error.message, error.extra)
    throw error
  }
  // With the stamp, so that exactly the plan is replaced whose rules were kept.
  const base = running === undefined ? null : { serial: running.record.serial, stamp: running.record.stamp }
  // The name of a person or of a token was proved; with the shared token, the caller says who it is.
  const who = operator.kind === "shared" ? author.who : operator.name.slice(0, 200)
  const outcome = await ports.apply(plan, base, { ...author, who, provenance })
  if (outcome.kind === "done") {
    if (outcome.answer.applied) ports.notify({ type: "plan.applied", data: outcome.answer.record })
    return outcome.answer
  }
  if (outcome.kind === "stale") return sendStale(reply, base, outcome.current)
  const problems = outcome.problems.map(({ path, message, origin }) => ({
    path,
    message,
    ...(origin === undefined ? {} : { origin }),
  }))
  return sendProblem(reply, "plan-refused", outcome.problems[0]?.message ?? "", { problems })
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
