import type { PlanRecord } from "../../../runtime/control/api.ts"
import { table } from "./table.ts"

export function historyText(plans: readonly PlanRecord[]): string {
  if (plans.length === 0) return "No plan was applied yet.\n"
  return table(
    ["SERIAL", "APPLIED", "WHO", "DIGEST", "REASON", "COMMIT"],
    plans.map((plan) => [
      String(plan.serial),
      plan.at.replace("T", " ").replace(/\.\d+Z$/, "Z"),
      plan.who,
      plan.digest.slice(7, 19),
      reasonOf(plan) ?? "-",
      commitOf(plan),
    ]),
  )
}

/** Records of older versions have the first line of the commit as their message. */
function reasonOf({ commit, message }: PlanRecord): string | null {
  return commit === null || commit.includes(" ") ? message : null
}

function commitOf({ commit, message }: PlanRecord): string {
  if (commit === null) return "-"
  const [id = "", ...subject] = commit.split(" ")
  const words = commit.includes(" ") ? subject.join(" ") : (message ?? "")
  return `${id.slice(0, 12)}${id.endsWith("+") && id.length > 12 ? "+" : ""} ${words}`.trim()
}
