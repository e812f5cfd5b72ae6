import type { FastifyInstance, FastifyReply } from "fastify"
import { LRUCache } from "lru-cache"
import type { PlanBody } from "../plan/plan.ts"
import { readPlan } from "../plan/read.ts"
import { type PlanChangesAnswer, planChangesQuery, planChangesRequest } from "./api.ts"
import { bodyOf } from "./body.ts"
import type { ControlPorts } from "./ports.ts"
import { sendProblem } from "./problem.ts"

type ChangesPorts = Pick<ControlPorts, "plan" | "current" | "reviewPlans">

/** Comparisons that are kept: a page of the console asks for the same one again. */
const keptMax = 50
/** What a page can show. */
const changesMax = 2_000

/**
 * `GET /v1/plans/{serial}/changes`: what a plan of the history changes, compared with another one. `POST /v1/plan/changes`: what a plan that was not applied would
 * change now.
 */
export function addPlanChangesRoutes(app: FastifyInstance, ports: ChangesPorts): void {
  const comparisons = new Comparisons(ports.reviewPlans)
  app.get<{ Params: { serial: string } }>("/v1/plans/:serial/changes", async ({ params, query }, reply) => {
    const question = bodyOf(planChangesQuery, query, reply)
    if (question === undefined) return reply
    const to = Number(params.serial)
    const from = question.from ?? to - 1
    const [before, after] = await Promise.all([
      from === 0 ? undefined : planOf(ports, from),
      planOf(ports, to),
    ])
    if (after === undefined || (from !== 0 && before === undefined))
      return sendProblem(
        reply,
        "not-found",
        `the history has no plan ${after === undefined ? params.serial : from}`,
      )
    if (typeof before === "string" || typeof after === "string") return sendUnreadable(reply)
    const changes = before === undefined ? noChanges : await comparisons.changes(before, after)
    if (changes === undefined) return sendNoReview(reply)
    const answer: PlanChangesAnswer = { from: before === undefined ? null : from, to, ...changes }
    return answer
  })
  app.post("/v1/plan/changes", async (request, reply) => {
    const body = bodyOf(planChangesRequest, request.body, reply)
    if (body === undefined) return reply
    const read = readPlan(body.plan)
    if ("problems" in read)
      return sendProblem(reply, "plan-invalid", read.problems[0]?.message ?? "", {
        problems: [...read.problems],
      })
    const running = (await ports.current())?.record
    const before = running === undefined ? undefined : await planOf(ports, running.serial)
    if (typeof before === "string") return sendUnreadable(reply)
    const after = { stamp: read.plan.digest, body: read.plan.plan }
    const changes = before === undefined ? noChanges : await comparisons.changes(before, after)
    if (changes === undefined) return sendNoReview(reply)
    const answer: PlanChangesAnswer = {
      from: before === undefined ? null : (running?.serial ?? null),
      to: null,
      ...changes,
    }
    return answer
  })
}

type Changes = Pick<PlanChangesAnswer, "changes" | "cut">

const noChanges: Changes = { changes: [], cut: false }

/** A plan, and what tells it from others: its stamp, or the digest of one that was not applied. */
interface ComparedPlan {
  readonly stamp: string
  readonly body: PlanBody
}

/** Compares plans one at a time, because each comparison takes a thread and up to some seconds of its core, and keeps the last results. */
class Comparisons {
  readonly #review: ChangesPorts["reviewPlans"]
  readonly #kept = new LRUCache<string, Changes>({ max: keptMax })
  #last: Promise<unknown> = Promise.resolve()

  constructor(review: ChangesPorts["reviewPlans"]) {
    this.#review = review
  }

  /** Undefined: this process cannot compare plans. */
  async changes(before: ComparedPlan, after: ComparedPlan): Promise<Changes | undefined> {
    const review = this.#review
    if (review === undefined) return undefined
    const key = `${before.stamp} ${after.stamp}`
    const known = this.#kept.get(key)
    if (known !== undefined) return known
    const reviewing = this.#last.then(() => review(before.body, after.body))
    this.#last = reviewing.catch(() => undefined)
    const found = await reviewing
    const changes = {
      cut: found.length > changesMax,
      changes: found.slice(0, changesMax).map(({ classes, routes, text }) => ({
        ...{ classes: [...classes], routes: routes.slice(0, 100), text },
      })),
    }
    this.#kept.set(key, changes)
    return changes
  }
}

function sendNoReview(reply: FastifyReply): FastifyReply {
  return sendProblem(reply, "no-review", "this process was started without what compares plans")
}

function sendUnreadable(reply: FastifyReply): FastifyReply {
  return sendProblem(
    reply,
    "plan-invalid",
    "another version of Sallyport stored one of the plans, which this one cannot read",
  )
}

/** A text: it cannot be read. */
async function planOf(ports: ChangesPorts, serial: number): Promise<ComparedPlan | "unreadable" | undefined> {
  const found = Number.isSafeInteger(serial) && serial > 0 ? await ports.plan(serial) : undefined
  if (found === undefined) return undefined
  const read = readPlan(found.plan)
  return "problems" in read ? "unreadable" : { stamp: found.record.stamp, body: read.plan.plan }
}
