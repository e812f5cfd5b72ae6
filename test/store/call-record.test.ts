import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { CallRecord } from "../../runtime/store/call-record.ts"

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }))
afterEach(() => void vi.useRealTimers())

test("counts each call once, for five to ten seconds", () => {
  const record = new CallRecord()
  expect(record.failures).toBeUndefined()
  record.failed("it is away")
  record.succeeded()
  expect(record.failures).toEqual({ failed: 1, calls: 2, reason: "it is away" })
  vi.advanceTimersByTime(5_000)
  record.succeeded()
  expect(record.failures).toEqual({ failed: 1, calls: 3, reason: "it is away" })
  vi.advanceTimersByTime(5_000)
  expect(record.failures).toBeUndefined()
})
