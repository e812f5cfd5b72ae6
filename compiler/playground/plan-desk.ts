import type { PlanDeskReply, PlanDeskRequest } from "../../runtime/control/console/page/parts/plan-desk.ts"

/** The difference of two plans as text, for the console's page Plans. The printers of all statements are loaded at the first question. */
export async function planDeskReply({ before, after }: PlanDeskRequest): Promise<PlanDeskReply> {
  const [{ planText }, { lineDifference, linesOf }] = await Promise.all([
    import("../diff/plan-text.ts"),
    import("../render/line-difference.ts"),
  ])
  const old = before === undefined ? [] : linesOf(planText(before))
  return { kind: "plan-texts", lines: lineDifference(old, linesOf(planText(after))) }
}
