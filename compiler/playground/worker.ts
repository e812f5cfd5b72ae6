import type { WorkerReply, WorkerRequest } from "./protocol.ts"
import { replyInTurn } from "./replies.ts"
import { withTuple } from "./tuple-text.ts"
import { Workbench } from "./workbench.ts"
import { WritingHelp } from "./writing-help.ts"

// The playground's second thread: compiling and asking never block typing.

const bench = new Workbench()
const help = new WritingHelp()

replyInTurn(async (asked: WorkerRequest): Promise<WorkerReply> => {
  if (asked.kind === "open") {
    help.open(asked.texts)
    return { kind: "opened", analysis: await bench.open(asked.texts) }
  }
  if (asked.kind === "complete")
    return { kind: "completed", items: await help.complete(asked.path, asked.text, asked.offset) }
  if (asked.kind === "hover")
    return { kind: "hovered", hover: await help.hover(asked.path, asked.text, asked.offset) }
  if (asked.kind === "add") return { kind: "added", text: withTuple(asked.text, asked.tuple) }
  return { kind: "answered", answer: await bench.ask(asked.question) }
})
