import { readFileSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import { expect, onTestFinished, test } from "vitest"
import { Replacements } from "../../runtime/workers/replacements.ts"
import { eventually } from "../e2e/sallyport-process.ts"
import { describePostgres } from "../postgres.ts"
import { isAlive } from "../support/is-alive.ts"
import { machine, workersOf } from "./machine.ts"

describePostgres("the end of", () => {
  const here = machine()
  const conf = () => `
gateway shop { listen 127.0.0.1:${here.ports[0]}; trust none }
api slow { path "/slow"; auth none; backend "http://127.0.0.1:${here.ports[3]}"; GET "/" }
`

  test("the parent by a kill: workers finish their requests and end", async () => {
    const held: ServerResponse[] = []
    const backend = createServer((_, response) => void held.push(response))
    await new Promise<void>((resolve) => backend.listen(here.ports[3], "127.0.0.1", resolve))
    onTestFinished(() => void backend.close())
    here.write(conf())
    const serving = here.serve("--workers", "2")
    await serving.printed(/"started"/)
    expect(await here.sallyport("apply", "--yes", "--allow", "opens", "--wait", "60s")).toMatchObject({
      code: 0,
    })
    const pids = await workersOf(here, 2)
    const running = here.gateway("/slow").then((each) => each.text())
    await expect.poll(() => held.length).toBe(1)
    serving.child.kill("SIGKILL")
    // Both workers have noticed it when the port is closed.
    await eventually(() =>
      here.gateway("/slow", { method: "DELETE" }).then(
        () => undefined,
        () => true,
      ),
    )
    held[0]?.end("completed")
    expect(await running).toBe("completed")
    await expect.poll(() => pids.some(isAlive)).toBe(false)
  })

  test("all workers again and again: the process ends and says so", async () => {
    const serving = here.serve("--workers", "2")
    await serving.printed(/"started"/)
    const parent = serving.child.pid as number
    let isOver = false
    void serving.exited.then(() => {
      isOver = true
    })
    // Killed as soon as they exist, because a start is what costs time.
    while (!isOver) {
      for (const pid of childrenOf(parent)) killed(pid)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(await serving.exited).toBe(1)
    expect(serving.output.err).toMatch(
      /^error: 10 workers in a row ended less than 10 seconds after their start\nhelp: The log lines `a worker ended`/,
    )
  })
})

test("workers that ended early are replaced after longer pauses, while another one serves without end", () => {
  const replacements = new Replacements()
  const pauses = Array.from({ length: 10 }, () => replacements.afterEnd(50, 4, true))
  expect(pauses).toEqual([100, 200, 400, 800, 1600, 2000, 2000, 2000, 2000, 2000])
  expect(replacements.afterEnd(50, 4, true)).toBe(2000)
  // Twelve for four workers.
  expect(replacements.afterEnd(50, 4, true)).toBeUndefined()
  expect(replacements.afterEnd(50, 4, false)).toBe(2000)
  // One that has run for a while starts the count again.
  expect(replacements.afterEnd(10_000, 4, true)).toBe(0)
  expect(replacements.afterEnd(50, 4, true)).toBe(100)
})

test("the reason of the last worker is that of the process", () => {
  const replacements = new Replacements()
  replacements.afterEnd(50, 2, true)
  expect(replacements.hopeless({ message: "the folder is gone", help: "Make it." })).toMatchObject({
    message:
      "1 workers in a row ended less than 10 seconds after their start; the last one: the folder is gone",
    help: "Make it.",
  })
})

function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has ended by itself.
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    return text.split(" ").filter(Boolean).map(Number)
  } catch {
    return []
  }
}
