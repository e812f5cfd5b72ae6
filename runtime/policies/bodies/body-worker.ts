// A thread for work on large bodies: a job in, its result out. An entry of the build (dist/body-worker.js), because a worker is started from a file.
import { parentPort } from "node:worker_threads"
import { bodyJobs, type JobResult } from "./body-jobs.ts"

parentPort?.on("message", ({ kind, input }: { kind: keyof typeof bodyJobs; input: never }) => {
  try {
    const result: JobResult = bodyJobs[kind](input)
    const { content } = result
    // Moved and not copied, where the memory is the content's alone.
    const isWhole = content !== undefined && content.byteLength === content.buffer.byteLength
    parentPort?.postMessage({ result }, isWhole ? [content.buffer as ArrayBuffer] : [])
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    parentPort?.postMessage({ error: text })
  }
})
