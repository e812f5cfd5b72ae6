import type { DeskReply, DeskRequest } from "../../runtime/control/console/page/parts/model-desk.ts"
import type { PlanDeskReply, PlanDeskRequest } from "../../runtime/control/console/page/parts/plan-desk.ts"
import { deskReply } from "./model-desk.ts"
import { planDeskReply } from "./plan-desk.ts"
import { replyInTurn } from "./replies.ts"

// The second thread of the console's pages Model and Plans. The build gives it to the console, whose sources may not import the compiler.

replyInTurn<DeskRequest | PlanDeskRequest, DeskReply | PlanDeskReply>((asked) =>
  asked.kind === "plan-texts" ? planDeskReply(asked) : deskReply(asked),
)
