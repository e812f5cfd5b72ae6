import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import { expect, test } from "vitest"
import { browserScript } from "./bundle.ts"
import { ownProject } from "./own-project.ts"
import { projectAnswers } from "./project-answers.ts"

// A thread whose globals are those that browsers have too. Modules have no `require`.
const prelude = `
import { parentPort, workerData } from "node:worker_threads"
for (const name of ["Buffer", "process", "setImmediate", "clearImmediate", "global"]) delete globalThis[name]
const timeout = globalThis.setTimeout
globalThis.setTimeout = (task, ms) => Number(timeout(task, ms))
`
const end = "\nparentPort.postMessage(await globalThis.projectAnswers(workerData))"

test("compiler, engine and language service run without Node.js, and say the same", async () => {
  const project = await ownProject()
  const script = await browserScript()
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bundle-"))
  writeFileSync(join(folder, "worker.mjs"), prelude + script + end)
  const worker = new Worker(join(folder, "worker.mjs"), { workerData: project })
  try {
    const [there] = (await once(worker, "message")) as [string]
    const here = await projectAnswers(project)
    expect(JSON.parse(there)).toEqual(JSON.parse(here))
    expect(JSON.parse(here)).toMatchObject({ findings: [], plan: { digest: expect.any(String) } })
  } finally {
    await worker.terminate()
    rmSync(folder, { recursive: true })
  }
})
