import type { WorkerMessage, WorkerResult } from "../../runtime/control/console/page/parts/worker-channel.ts"

/** Replies to the page's requests one after the other, so that a question is asked of the project that was sent before it. */
export function replyInTurn<Request, Reply>(replyTo: (asked: Request) => Promise<Reply>): void {
  let last: Promise<void> = Promise.resolve()
  self.addEventListener("message", ({ data }: MessageEvent<WorkerMessage<Request>>) => {
    last = last.then(async () => self.postMessage(await result(data)))
  })
  const result = async ({ number, body }: WorkerMessage<Request>): Promise<WorkerResult<Reply>> => {
    try {
      return { number, body: await replyTo(body) }
    } catch (error) {
      return { number, failure: error instanceof Error ? error.message : String(error) }
    }
  }
}
