import { setFiles } from "./node/fs.ts"
import type { WorkerReply, WorkerRequest } from "./protocol.ts"
import { replyInTurn } from "./replies.ts"
import { RequestDesk } from "./request-desk.ts"
import { withTuple } from "./tuple-text.ts"
import { Workbench } from "./workbench.ts"
import { WritingHelp } from "./writing-help.ts"

// The playground's second thread: compiling and asking never block typing.

const bench = new Workbench()
const help = new WritingHelp()
const desk = new RequestDesk(async () => {
  // The gateway is written for Node.js: `build.mjs` replaces its modules, and these are its globals.
  await import("./node/globals.ts")
  return (await import("../../runtime/gateway/in-process/in-process-gateway.ts")).openInProcess
})

replyInTurn(async (asked: WorkerRequest): Promise<WorkerReply> => {
  if (asked.kind === "open") {
    const { texts } = asked
    help.open(texts)
    const { analysis, gateway } = await bench.open(texts)
    setFiles(texts)
    desk.open(gateway && { ...gateway, texts })
    return { kind: "opened", analysis }
  }
  if (asked.kind === "gateway") return { kind: "gateway", view: await desk.view() }
  if (asked.kind === "gateway-tests") return { kind: "gateway-tests", results: await desk.results() }
  if (asked.kind === "send") return { kind: "sent", answer: await desk.send(asked.request) }
  if (asked.kind === "complete")
    return { kind: "completed", items: await help.complete(asked.path, asked.text, asked.offset) }
  if (asked.kind === "hover")
    return { kind: "hovered", hover: await help.hover(asked.path, asked.text, asked.offset) }
  if (asked.kind === "add") return { kind: "added", text: withTuple(asked.text, asked.tuple) }
  return { kind: "answered", answer: await bench.ask(asked.question) }
})
