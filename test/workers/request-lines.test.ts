import { expect, it } from "vitest"
import type { LoggedRequest } from "../../runtime/control/api.ts"
import { FetchedLines, HeldLines } from "../../runtime/workers/request-lines.ts"
import { mergedCounts, mergedTotals } from "../../runtime/workers/sums.ts"

const lineOf = (id: string): LoggedRequest => ({
  ...{ id, at: "", method: "GET", path: "/", status: 200, ms: 1, ip: "" },
  ...{ bytesIn: 0, bytesOut: 0, aborted: false, retried: false },
})

it("a worker keeps lines from the first question on, and its parent passes them to each listener", async () => {
  const listeners = new Set<(line: LoggedRequest) => void>()
  const finish = (id: string) => {
    for (const listener of listeners) listener(lineOf(id))
  }
  const held = new HeldLines((listener) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  })
  finish("before")
  expect(held.take()).toEqual([])
  finish("first")
  expect(held.take().map(({ id }) => id)).toEqual(["first"])
  for (let at = 0; at < 150; at++) finish(String(at))
  expect(held.take()).toHaveLength(100)

  const fetched = new FetchedLines(async () => held.take())
  const seen: string[] = []
  const end = fetched.listen(({ id }) => seen.push(id))
  finish("second")
  await expect.poll(() => seen).toEqual(["second"])
  end()
})

it("the traffic of a machine is the sum of its workers", () => {
  const one = { requests: [0, 0, 1, 0, 0, 0], durations: [1, 2], refusals: { a: 1 }, running: 1 }
  const other = { requests: [0, 0, 2, 0, 3, 0], durations: [3, 4], refusals: { a: 1, b: 2 }, running: 2 }
  expect(mergedTotals([one, undefined, other, null])).toEqual({
    ...{ requests: [0, 0, 3, 0, 3, 0], durations: [4, 6], refusals: { a: 2, b: 2 }, running: 3 },
  })
  expect(mergedTotals([undefined, null])).toBeUndefined()
  const counts = { requests: [1, 2], durations: [3, 4] }
  expect(mergedCounts([{ x: counts }, undefined, { x: counts, y: counts }])).toEqual({
    x: { requests: [2, 4], durations: [6, 8] },
    y: counts,
  })
})
