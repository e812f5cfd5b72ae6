import { setTimeout as pause } from "node:timers/promises"
import { expect, test } from "vitest"
import { Deadlines } from "../../runtime/gateway/backends/deadlines.ts"

test("each duration keeps its order; what is cancelled does not come; nothing comes early", async () => {
  let now = 0
  const deadlines = new Deadlines(() => now)
  const came: string[] = []
  const set = (name: string, afterMs: number) => deadlines.set({ expired: () => came.push(name) }, afterMs)
  set("late", 500)
  set("first", 100)
  const cancelled = set("cancelled", 100)
  set("third", 100)
  now = 50
  set("fourth", 100)
  deadlines.cancel(cancelled)
  deadlines.cancel(cancelled)
  deadlines.cancel(undefined)
  now = 99
  await pause(60)
  expect(came).toEqual([])
  now = 100
  await pause(60)
  expect(came).toEqual(["first", "third"])
  now = 500
  await pause(60)
  expect(came.toSorted()).toEqual(["first", "fourth", "late", "third"])
  set("again", 100)
  now = 700
  await pause(60)
  expect(came.at(-1)).toBe("again")
})

test("what is done holds neither what came before nor what came after it: old entries would keep younger requests", async () => {
  let now = 0
  const deadlines = new Deadlines(() => now)
  const entries = Array.from({ length: 4 }, () => deadlines.set({ expired: () => undefined }, 100))
  deadlines.cancel(entries[1])
  now = 100
  await pause(60)
  for (const { previous, next, list } of entries)
    expect({ previous, next, list }).toEqual({ previous: undefined, next: undefined, list: undefined })
})
