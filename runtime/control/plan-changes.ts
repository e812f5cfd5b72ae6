import type { FastifyInstance } from "fastify"
import { LRUCache } from "lru-cache"
import { readPlan } from "../plan/read.ts"
import { type PlanChangesAnswer, planChangesQuery } from "./api.ts"
import { bodyOf } from "./body.ts"
import type { ControlPorts } from "./ports.ts"
import { sendProblem } from "./problem.ts"

type ChangesPorts = Pick<ControlPorts, "plan" | "reviewPlans">

/** Comparisons that are kept: a page of the console asks for the same one again. */
const keptMax = 50
/** What a page can show. */
const changesMax = 2_000

/** `GET /v1/plans/{serial}/changes`: what a plan of the history changes, compared with another one. */
export function addPlanChangesRoute(app: FastifyInstance, ports: ChangesPorts): void {
  const { reviewPlans } = ports
  const kept = new LRUCache<string, PlanChangesAnswer>({ max: keptMax })
  // One at a time: each takes a thread and up to some seconds of its core.
  let last: Promise<unknown> = Promise.resolve()
  app.get<{ Params: { serial: string } }>("/v1/plans/:serial/changes", async ({ params, query }, reply) => {
    const question = bodyOf(planChangesQuery, query, reply)
    if (question === undefined) return reply
    const to = Number(params.serial)
    const from = question.from ?? to - 1
    if (reviewPlans === undefined)
      return sendProblem(reply, "no-review", "this process was started without what compares plans")
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
    if (typeof before === "string" || typeof after === "string")
      return sendProblem(
        reply,
        "plan-invalid",
        "another version of Sallyport stored one of the plans, which this one cannot read",
      )
    if (before === undefined) return { from: null, to, changes: [], cut: false }
    const key = `${before.stamp} ${after.stamp}`
    const known = kept.get(key)
    if (known !== undefined) return known
    const reviewing = last.then(() => reviewPlans(before.body, after.body))
    last = reviewing.catch(() => undefined)
    const changes = await reviewing
    const answer: PlanChangesAnswer = {
      ...{ from, to, cut: changes.length > changesMax },
      changes: changes.slice(0, changesMax).map(({ classes, routes, text }) => ({
        ...{ classes: [...classes], routes: routes.slice(0, 100), text },
      })),
    }
    kept.set(key, answer)
    return answer
  })
}

/** A text: it cannot be read. */
async function planOf(ports: ChangesPorts, serial: number) {
  const found = Number.isSafeInteger(serial) && serial > 0 ? await ports.plan(serial) : undefined
  if (found === undefined) return undefined
  const read = readPlan(found.plan)
  return "problems" in read ? "unreadable" : { stamp: found.record.stamp, body: read.plan.plan }
}
