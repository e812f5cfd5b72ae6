import type { PlanRecord } from "../../../runtime/control/api.ts"
import { table } from "./table.ts"

export function historyText(plans: readonly PlanRecord[]): string {
  if (plans.length === 0) return "No plan was applied yet.\n"
  return table(
    ["SERIAL", "APPLIED", "WHO", "COMMIT", "DIGEST", "MESSAGE"],
    plans.map((plan) => [
      String(plan.serial),
      plan.at.replace("T", " ").replace(/\.\d+Z$/, "Z"),
      plan.who,
      plan.commit?.slice(0, 12) ?? "-",
      plan.digest.slice(7, 19),
      plan.message ?? "",
    ]),
  )
}
