import { readdirSync, readFileSync } from "node:fs"
import { getPriority } from "node:os"
import { expect, test } from "vitest"
import { firstCommit, packRows } from "../../runtime/check/ports.ts"
import { pauseFor } from "../../runtime/impact/pace.ts"
import { ownSystem, shareOfThread } from "../../runtime/impact/processor-share.ts"
import { type ImpactSource, storeImpact } from "../../runtime/impact/store-impact.ts"
import { modelOf } from "../check/model.ts"

const planWith = (viewer: string) =>
  modelOf(`type user\ntype doc\n  relations\n    define editor: [user]\n    define viewer: ${viewer}\n`).plan
const before = planWith("[user]")
const after = planWith("[user] or editor")

/** The priorities of the threads that this process has on Linux: 0 is that of requests, 19 the lowest. */
function priorities(): readonly number[] {
  return readdirSync("/proc/self/task").flatMap((thread) => {
    const text = readFileSync(`/proc/self/task/${thread}/stat`, "utf8")
    return [Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[16])]
  })
}

/** The threads of this process, as its report lists them. */
function threads(): number {
  return (process.report.getReport() as unknown as { workers: unknown[] }).workers.length
}

test("a comparison that is cancelled stops to read, and its thread ends", async () => {
  const others = threads()
  const usual = getPriority()
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
  if (process.platform === "linux" && shareOfThread("idle", { ...ownSystem, lower: () => undefined }) === 1)
    await expect.poll(priorities).toContain(19)
  expect(getPriority()).toBe(usual)
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
