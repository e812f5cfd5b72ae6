import type {
  PlanDeskReply,
  PlanDeskRequest,
  StatementsReply,
  StatementsRequest,
} from "../../runtime/control/console/page/parts/plan-desk.ts"
import type { Step } from "../../runtime/plan/steps.ts"

/** The difference of two plans as text, for the console's page Plans. The printers of all statements are loaded at the first question. */
export async function planDeskReply({ before, after }: PlanDeskRequest): Promise<PlanDeskReply> {
  const [{ planText }, { lineDifference, linesOf }] = await Promise.all([
    import("../diff/plan-text.ts"),
    import("../render/line-difference.ts"),
  ])
  const old = before === undefined ? [] : linesOf(planText(before))
  return { kind: "plan-texts", lines: lineDifference(old, linesOf(planText(after))) }
}

/** Steps as statements of gateway.conf, for the console's pages about routes and requests. */
export async function statementsReply({ steps }: StatementsRequest): Promise<StatementsReply> {
  const { statementOf } = await import("../diff/step-words.ts")
  const textOf = (step: StatementsRequest["steps"][number]) => {
    try {
      return statementOf(step as unknown as Step)
    } catch {
      // A newer process than the one that served this page may have a kind that is not known here.
      return null
    }
  }
  return { kind: "statements", statements: steps.map(textOf) }
}
