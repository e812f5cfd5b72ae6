// The thread that compares the people of two models: it gets the tuples of a store and sends progress, rows and the result. It is a separate entry
// of the build (dist/impact-worker.js), because a worker starts from a file.
import { parentPort, workerData } from "node:worker_threads"
import type { ImpactRow } from "../check/access-change.ts"
import { type AccessImpact, accessImpact, ImpactTuples } from "../check/impact.ts"
import { loadModel } from "../check/loaded-model.ts"
import type { FromImpactThread, ImpactJob, ToImpactThread } from "./messages.ts"
import { pauseFor } from "./pace.ts"
import { shareOfThread } from "./processor-share.ts"

const progressMs = 250
const rowsAtOnce = 2_000
/** Messages of rows that were not taken before the thread waits. */
const untakenMax = 4

const job = workerData as ImpactJob
const share = shareOfThread(job.share)
let tuples = new ImpactTuples()
let untaken = 0
let onTaken: () => void = () => undefined

function send(message: FromImpactThread): void {
  parentPort?.postMessage(message)
}

async function compare(): Promise<void> {
  let rows: ImpactRow[] = []
  const sendRows = () => {
    if (rows.length === 0) return
    untaken++
    send({ kind: "rows", rows })
    rows = []
  }
  const finishing = tuples.finish()
  const pause = pauseFor(share)
  while (finishing.next().done !== true) await pause()
  const terms = {
    ...{ tuples, before: loadModel(job.before), after: loadModel(job.after), context: job.context },
    ...{ memoryBytes: job.memoryBytes, depthMax: job.depthMax },
  }
  const run = async (withRows: boolean): Promise<AccessImpact> => {
    const running = accessImpact({ ...terms, onRow: withRows ? (row) => void rows.push(row) : undefined })
    let told = 0
    let step = running.next()
    for (; step.done !== true; step = running.next()) {
      if (rows.length >= rowsAtOnce) sendRows()
      while (untaken >= untakenMax) await new Promise<void>((resolve) => (onTaken = resolve))
      await pause()
      if (performance.now() - told < progressMs) continue
      told = performance.now()
      send({ kind: "progress", progress: step.value })
    }
    return step.value
  }
  const impact = await run(job.rows === true)
  // Only the result tells how many rows there are.
  if (typeof job.rows === "number" && rowsOf(impact) <= job.rows) await run(true)
  sendRows()
  send({ kind: "done", tuples: tuples.count, impact })
}

/** The number of rows of a result. */
function rowsOf({ relations }: AccessImpact): number {
  const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0)
  return sum(
    relations.flatMap(({ users, sets, exceptions, everyone }) => [
      ...[...Object.values(users), ...Object.values(sets), exceptions],
      ...everyone.map(({ objects }) => objects),
    ]),
  )
}

parentPort?.on("message", (message: ToImpactThread) => {
  switch (message.kind) {
    case "tuples":
      tuples.load(message.rows)
      send({ kind: "ready" })
      break
    case "restart":
      tuples = new ImpactTuples()
      break
    case "taken":
      untaken--
      onTaken()
      break
    case "loaded":
      // A failure ends the thread, which the process notices.
      compare().catch((error: unknown) => {
        setImmediate(() => {
          throw error
        })
      })
  }
})
