import { createRequire } from "node:module"
import { Worker } from "node:worker_threads"
import type { PlanReview, ReviewedChange } from "../../runtime/control/ports.ts"

/** A comparison of 10,000 routes takes some seconds. */
const timeoutMs = 120_000
const heapMegabytesMax = 2_048

/** Compares plans in a thread: requests are served meanwhile, and a plan that takes too long to compare is refused. */
export const reviewPlans: PlanReview = (before, after) =>
  new Promise<readonly ReviewedChange[]>((resolve, reject) => {
    const file = createRequire(import.meta.url).resolve("#review-worker")
    const worker = new Worker(file, {
      workerData: { before, after },
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
    })
    const timer = setTimeout(() => {
      reject(new Error(`it takes longer than ${timeoutMs / 1000} s`))
      void worker.terminate()
    }, timeoutMs)
    worker.once("message", (changes: readonly ReviewedChange[]) => resolve(changes))
    worker.once("error", reject)
    worker.once("exit", () => {
      clearTimeout(timer)
      reject(new Error("its thread ended"))
    })
  })
