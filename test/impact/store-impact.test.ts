import { expect, test } from "vitest"
import { firstCommit, packRows } from "../../runtime/check/ports.ts"
import { pauseFor } from "../../runtime/impact/pace.ts"
import { type ImpactSource, storeImpact } from "../../runtime/impact/store-impact.ts"
import { modelOf } from "../check/model.ts"

const planWith = (viewer: string) =>
  modelOf(`type user\ntype doc\n  relations\n    define editor: [user]\n    define viewer: ${viewer}\n`).plan
const before = planWith("[user]")
const after = planWith("[user] or editor")

/** The threads of this process, as its report lists them. */
function threads(): number {
  return (process.report.getReport() as unknown as { workers: unknown[] }).workers.length
}

test("a comparison that is cancelled stops to read, and its thread ends", async () => {
  const others = threads()
  let [batches, isOver] = [0, false]
  const source: ImpactSource = {
    snapshot: async () => undefined,
    // Never ends by itself.
    load: async (_storeId, onBatch) => {
      try {
        for (;;)
          await onBatch(packRows([[`doc:${batches++}`, "editor", `user:${batches}`, "", "", ""]]), undefined)
      } finally {
        isOver = true
      }
    },
  }
  const gone = new AbortController()
  const terms = { source, storeId: "store", before, after, rows: false, depthMax: 25 }
  const events = storeImpact({ ...terms, signal: gone.signal })
  expect((await events.next()).value).toEqual({ reading: undefined })
  await expect.poll(threads).toBe(others + 1)
  gone.abort()
  await expect(
    (async () => {
      for await (const _ of events);
    })(),
  ).rejects.toThrow("cancelled")
  await expect.poll(() => isOver).toBe(true)
  await expect.poll(threads).toBe(others)
})

test("the thread of a comparison ends, too, when its caller takes no more events", async () => {
  const others = threads()
  const rows = Array.from({ length: 500 }, (_, at) =>
    packRows([[`doc:${at}`, "editor", `user:${at}`, "", "", ""]]),
  )
  const source: ImpactSource = {
    snapshot: async () => undefined,
    load: async (_storeId, onBatch) => {
      await onBatch(rows.join(""), 1)
      return firstCommit
    },
  }
  const { signal } = new AbortController()
  const terms = { source, storeId: "store", before, after, rows: true, depthMax: 25 }
  for await (const event of storeImpact({ ...terms, signal })) if ("rows" in event) break
  await expect.poll(threads).toBe(others)
})

test.each([0.25, 0.5, 1])("a comparison works no more than %f of the time", async (share) => {
  let [now, slept] = [0, 0]
  const clock = {
    now: () => now,
    sleep: async (ms: number) => {
      slept += ms
      now += ms
    },
  }
  const pause = pauseFor(share, clock)
  for (let step = 0; step < 1_000; step++) {
    now += step % 7
    await pause()
    // At most one slice of work has no pause yet.
    expect(now - slept).toBeLessThanOrEqual(share * now + 26)
  }
  expect((now - slept) / now).toBeGreaterThan(share - 0.05)
})
