import type { Report } from "../../core/diagnostic.ts"
import type { RouteSource } from "../routes.ts"
import type { Lowered } from "./step.ts"

/** Steps a section of a route, and a block, may have. */
export const stepsMax = 1000

/** Reports a route with a section that is too long. */
export function checkSize(
  lists: readonly (readonly Lowered[])[],
  { span }: RouteSource,
  report: Report,
): void {
  const longest = Math.max(...lists.map((list) => list.length))
  if (longest > stepsMax)
    report.add("SP3016", span, `the route has ${longest} steps in a row, ${stepsMax} are possible`)
}
