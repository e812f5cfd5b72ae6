import type { FastifyReply } from "fastify"
import type { ConsentBase } from "../store/consents.ts"
import type { PlanBase } from "../store/plans.ts"
import type { PlanRecord } from "./api.ts"
import { sendProblem } from "./problem.ts"

/** Whether the running plan is the one that the new plan was compared with. */
export function isBase(base: PlanBase | null, running: PlanRecord | undefined): boolean {
  if (base === null || running === undefined) return base === null && running === undefined
  return base.serial === running.serial && (base.stamp === undefined || base.stamp === running.stamp)
}

/** Answers that another plan is running than the caller thinks. */
export function sendStale(
  reply: FastifyReply,
  base: PlanBase | null,
  current: PlanRecord | null,
): FastifyReply {
  const now = current === null ? "nothing is running" : `serial ${current.serial} is running`
  const then = base === null ? "that nothing was running" : `serial ${base.serial}`
  const other =
    current?.serial === base?.serial
      ? " (another plan of that serial: the database was set back to an earlier state since)"
      : ""
  const detail = `the plan was compared with ${then}, but ${now}${other}; nothing was changed`
  return sendProblem(reply, "plan-stale", detail, { current })
}

/** The key of consents over a running plan. */
export function consentBase(record: PlanRecord | undefined): ConsentBase {
  return { serial: record?.serial ?? 0, stamp: record?.stamp ?? "" }
}
