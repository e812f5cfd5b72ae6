import { describe, expect, test } from "vitest"
import type { PruneAnswer } from "../../runtime/control/api.ts"
import { type Answer, fakeControl, type Seen } from "./fake-control.ts"
import { folderWith, run } from "./run.ts"

const none = { changes: 0, tuples: 0, stores: 0, subscriptions: 0, plans: 0 }

const answers = (...all: readonly PruneAnswer[]) => {
  let at = 0
  return (): Answer => ({ json: all[at++] })
}

describe("prune", () => {
  test("goes on until there is no cursor, and adds up", async () => {
    const control = await fakeControl({
      "POST /v1/prune": answers(
        { pruned: { ...none, changes: 40_000, plans: 2 }, next: "more" },
        { pruned: { ...none, changes: 1_000, stores: 1, tuples: 7 }, next: null },
      ),
    })
    const world = { cwd: folderWith({}), env: control.env }
    const outcome = await run(world, "prune", "--changes", "30d", "--plans", "100", "--deleted", "90s")
    expect(outcome).toEqual({
      code: 0,
      out: "deleted: 41,000 changes, 7 tuples of deleted stores, 1 deleted stores, 2 plans\n",
      err: "",
    })
    const retention = { changesSeconds: 2_592_000, plansKept: 100, deletedSeconds: 90, dryRun: false }
    expect(control.seen.map(({ body }: Seen) => body)).toEqual([
      { ...retention, cursor: null },
      { ...retention, cursor: "more" },
    ])
  })

  test("--dry-run says what it would delete", async () => {
    const control = await fakeControl({ "POST /v1/prune": answers({ pruned: none, next: null }) })
    const outcome = await run({ cwd: folderWith({}), env: control.env }, "prune", "--plans", "3", "--dry-run")
    expect(outcome).toMatchObject({ code: 0, out: "would delete: nothing\n" })
    expect(control.seen[0]?.body).toEqual({ plansKept: 3, dryRun: true, cursor: null })
  })

  test.each([
    ["nothing to keep", [], /^error: prune needs to know what to keep/],
    ["an age without a unit", ["--changes", "30"], /^error: --changes 30 is not a duration/],
    ["a short age of changes", ["--changes", "59m"], /^error: --changes is less than an hour/],
    ["no plan", ["--plans", "0"], /^error: --plans must be a whole number of at least 1/],
  ] as const)("refuses %s", async (_, words, message) => {
    const control = await fakeControl({})
    const outcome = await run({ cwd: folderWith({}), env: control.env }, "prune", ...words)
    expect([outcome.code, control.seen.length]).toEqual([1, 0])
    expect(outcome.err).toMatch(message)
  })
})
