import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { Change } from "../../diff/change.ts"
import { comparePlans } from "../../diff/compare-plans.ts"
import { changesJson, changesText } from "../../render/changes.ts"
import type { Io } from "../io.ts"

/** Prints what is different in `after`; `before` undefined: nothing is running. `origins`, of the plan after, tell where it is written. */
export function showChanges(
  io: Io,
  before: PlanBody | undefined,
  after: PlanBody,
  format: "text" | "json",
  origins: Readonly<Record<string, string>> = {},
): readonly Change[] {
  const changes = comparePlans(before, after, origins)
  io.out(format === "json" ? changesJson(changes) : changesText(changes, { colour: io.colour.out }))
  return changes
}
