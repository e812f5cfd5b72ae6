import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { Change } from "../../diff/change.ts"
import { comparePlans } from "../../diff/compare-plans.ts"
import type { StorePeople } from "../../diff/people.ts"
import { changesJson, changesMarkdown, changesText } from "../../render/changes.ts"
import { peopleJson, peopleMarkdown, peopleText } from "../../render/people.ts"
import type { Io } from "../io.ts"

/**
 * Prints the changes in `after`; `before` is undefined if no plan is running. `origins`, of the new plan, are the places in the text. `people`: what
 * changes of models mean for people.
 */
export function showChanges(
  io: Io,
  before: PlanBody | undefined,
  after: PlanBody,
  format: "text" | "json" | "markdown",
  origins: Readonly<Record<string, string>> = {},
  people: readonly StorePeople[] = [],
): readonly Change[] {
  const changes = comparePlans(before, after, origins)
  if (format === "json") io.out(changesJson(changes, people.map(peopleJson)))
  else if (format === "markdown") io.out([changesMarkdown(changes), ...people.map(peopleMarkdown)].join("\n"))
  else {
    const colour = { colour: io.colour.out }
    io.out([changesText(changes, colour), ...people.map((each) => peopleText(each, colour))].join("\n"))
  }
  return changes
}
