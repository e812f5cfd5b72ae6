import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import { digestOf } from "../plan/canonical.ts"
import type { Plan } from "../plan/plan.ts"
import { readPlan } from "../plan/read.ts"
import type { PlanBase } from "../store/plans.ts"
import { type Author, applyRequest, rollbackRequest } from "./api.ts"
import { bodyOf } from "./body.ts"
import { operatorOf } from "./operators.ts"
import type { ControlPorts } from "./ports.ts"
import { sendProblem } from "./problem.ts"

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
    return { plans: await ports.history(limit) }
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
    return apply(ports, read.plan, { base: baseOf(body), author: body.author }, { request, reply })
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
    return apply(ports, read.plan, { base: baseOf(body), author: body.author }, { request, reply })
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

/** Applies a plan and answers with the outcome. */
async function apply(
  ports: ControlPorts,
  plan: Plan,
  { base, author }: { readonly base: PlanBase | null; readonly author: Author },
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<unknown> {
  const operator = operatorOf(request.raw)
  if (operator.role !== "admin" && trustOf(plan) !== trustOf((await ports.current())?.plan))
    return sendProblem(
      reply,
      "forbidden",
      "the plan changes who may operate Sallyport: its `control` block, or an issuer or value that it uses. Only the role `admin` may apply it",
    )
  // The name of a person or of a token was proved; with the shared token, the caller says who it is.
  const who = operator.kind === "shared" ? author.who : operator.name.slice(0, 200)
  const outcome = await ports.apply(plan, base, { ...author, who })
  if (outcome.kind === "done") return outcome.answer
  if (outcome.kind === "stale") {
    const now =
      outcome.current === null ? "nothing is running" : `serial ${outcome.current.serial} is running`
    const then = base === null ? "that nothing was running" : `serial ${base.serial}`
    const other =
      outcome.current?.serial === base?.serial
        ? " (another plan of that serial: the database was set back to an earlier state since)"
        : ""
    return sendProblem(
      reply,
      "plan-stale",
      `the plan was compared with ${then}, but ${now}${other}; nothing was changed`,
      { current: outcome.current },
    )
  }
  const problems = outcome.problems.map(({ path, message, origin }) => ({
    path,
    message,
    ...(origin === undefined ? {} : { origin }),
  }))
  return sendProblem(reply, "plan-refused", outcome.problems[0]?.message ?? "", { problems })
}

/** Everything in a plan that decides who the operators are, as one text. */
function trustOf(plan: Plan | undefined): string {
  const { control, issuers = {}, values = {}, secrets = {} } = plan?.plan ?? {}
  const used = Object.keys(control?.issuers ?? {}).map((name) => [name, issuers[name]])
  // Issuers may be made of values, and their keys of secrets.
  return digestOf({ control: control ?? null, used, ...(used.length === 0 ? {} : { values, secrets }) })
}

function serialOf(text: string): number | undefined {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined
}
