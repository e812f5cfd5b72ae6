import type { DeskReply, DeskRequest } from "../../runtime/control/console/page/parts/model-desk.ts"
import type {
  PlanDeskReply,
  PlanDeskRequest,
  StatementsReply,
  StatementsRequest,
} from "../../runtime/control/console/page/parts/plan-desk.ts"
import { deskReply } from "./model-desk.ts"
import { planDeskReply, statementsReply } from "./plan-desk.ts"
import { replyInTurn } from "./replies.ts"

// The second thread of the console's pages Model, Plans, Routes and Try it. The build gives it to the console, whose sources may not import the compiler.

type Request = DeskRequest | PlanDeskRequest | StatementsRequest
type Reply = DeskReply | PlanDeskReply | StatementsReply

replyInTurn<Request, Reply>((asked) => {
  if (asked.kind === "plan-texts") return planDeskReply(asked)
  return asked.kind === "statements" ? statementsReply(asked) : deskReply(asked)
})
