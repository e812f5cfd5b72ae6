import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { Change } from "../../diff/change.ts"
import { comparePlans } from "../../diff/compare-plans.ts"
import { changesJson, changesText } from "../../render/changes.ts"
import type { Io } from "../io.ts"

/** Prints the changes in `after`; `before` is undefined if no plan is running. `origins`, of the new plan, are the places in the text. */
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
