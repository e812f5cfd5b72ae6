import type { WorkerReply, WorkerRequest } from "./protocol.ts"
import { replyInTurn } from "./replies.ts"
import { Workbench } from "./workbench.ts"

// The playground's second thread: compiling and asking never block typing.

const bench = new Workbench()

replyInTurn(
  async (asked: WorkerRequest): Promise<WorkerReply> =>
    asked.kind === "open"
      ? { kind: "opened", analysis: await bench.open(asked.texts) }
      : { kind: "answered", answer: await bench.ask(asked.question) },
)
