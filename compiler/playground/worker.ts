import type { WorkerReply, WorkerRequest } from "./protocol.ts"
import { Workbench } from "./workbench.ts"

// The page's second thread: compiling and asking never block typing.

const bench = new Workbench()
/** Requests run one after the other, so that a question is asked of the project that was sent before it. */
let last: Promise<void> = Promise.resolve()

self.addEventListener("message", ({ data }: MessageEvent<WorkerRequest & { readonly number: number }>) => {
  last = last.then(async () => self.postMessage(await replyTo(data)))
})

async function replyTo(asked: WorkerRequest & { readonly number: number }): Promise<WorkerReply> {
  const { number } = asked
  try {
    return asked.kind === "open"
      ? { number, kind: "opened", analysis: await bench.open(asked.texts) }
      : { number, kind: "answered", answer: await bench.ask(asked.question) }
  } catch (error) {
    return { number, kind: "failed", message: error instanceof Error ? error.message : String(error) }
  }
}
