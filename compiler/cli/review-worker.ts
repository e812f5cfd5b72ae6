// The thread that compares plans for the control API. It is a separate entry of the build (dist/review-worker.js), because a worker starts from a file.
import { parentPort, workerData } from "node:worker_threads"
import type { ReviewedChange } from "../../runtime/control/ports.ts"
import { changeClasses } from "../../runtime/plan/change-rules.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Change } from "../diff/change.ts"
import { comparePlans } from "../diff/compare-plans.ts"

const { before, after } = workerData as { readonly before: PlanBody; readonly after: PlanBody }
parentPort?.postMessage(comparePlans(before, after).map(reviewedOf))

function reviewedOf({ reasons, routes, scope, before, after, why, where }: Change): ReviewedChange {
  const heading = `${scope.kind} ${scope.name}`.trim()
  const statement = after ?? before
  const about = [heading, ...(statement === undefined ? [] : [statement])].join(": ")
  const text = `${about}: ${why}${where === "" ? "" : ` (${where})`}`
  const classes = changeClasses.filter((each) => reasons.some(({ risk }) => risk === each))
  return { classes, routes, text: text.slice(0, textMax) }
}

/** A statement may contain a whole body. */
const textMax = 500
