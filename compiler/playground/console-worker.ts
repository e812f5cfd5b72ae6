import { deskReply } from "./model-desk.ts"
import { replyInTurn } from "./replies.ts"

// The second thread of the console's page Model. The build gives it to the console, whose sources may not import the compiler.

replyInTurn(deskReply)
