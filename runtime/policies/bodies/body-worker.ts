// The thread for large bodies: receives jobs and sends results. It is a separate entry of the build (dist/body-worker.js), because a worker starts
// from a file.
import { parentPort } from "node:worker_threads"
import { bodyJobs, type JobResult } from "./body-jobs.ts"

parentPort?.on("message", ({ kind, input }: { kind: keyof typeof bodyJobs; input: never }) => {
  try {
    const result: JobResult = bodyJobs[kind](input)
    const { content } = result
    // Transfers the memory instead of copying it, when nothing else is in it.
    const isWhole = content !== undefined && content.byteLength === content.buffer.byteLength
    parentPort?.postMessage({ result }, isWhole ? [content.buffer as ArrayBuffer] : [])
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    parentPort?.postMessage({ error: text })
  }
})
