import type { WorkerReply, WorkerRequest } from "./protocol.ts"
import { replyInTurn } from "./replies.ts"
import { withTuple } from "./tuple-text.ts"
import { Workbench } from "./workbench.ts"

// The playground's second thread: compiling and asking never block typing.

const bench = new Workbench()

replyInTurn(async (asked: WorkerRequest): Promise<WorkerReply> => {
  if (asked.kind === "open") return { kind: "opened", analysis: await bench.open(asked.texts) }
  if (asked.kind === "add") return { kind: "added", text: withTuple(asked.text, asked.tuple) }
  return { kind: "answered", answer: await bench.ask(asked.question) }
})
