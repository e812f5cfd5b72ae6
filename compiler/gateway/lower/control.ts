import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Program } from "../program.ts"
import { controlListeners } from "./listen.ts"

/** How operators reach the control API. A plan without the block keeps the digest it had before the block existed. */
export function lowerControl(program: Program, report: Report): Pick<PlanBody, "control"> {
  if (program.control === undefined) return {}
  return { control: { listen: controlListeners(program, report) } }
}
