import { expect, test } from "vitest"
import type { EndedRequest } from "../../runtime/authz/observed.ts"
import { QuestionWork } from "../../runtime/check/counts.ts"
import { EngineObserver } from "../../runtime/process/engine-observer.ts"
import { SlowQuestions } from "../../runtime/process/slow-questions.ts"
import { StoreNames } from "../../runtime/process/store-names.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { Metrics } from "../../runtime/telemetry/metrics.ts"

const slow: EndedRequest = {
  ...{ method: "Check", store: "acme", outcome: "allowed", durationMs: 1_234.5 },
  work: Object.assign(new QuestionWork(), { steps: 700, pagesRead: 3 }),
  question: { user: "user:canary-ann", relation: "viewer", object: "doc:canary-1" },
}

function observed(now: () => number = () => 0) {
  const lines: string[] = []
  const names = new StoreNames()
  names.learn(new Map([["acme", { storeId: "01ARZ3NDEKTSV4RRFFQ69G5FAV", modelId: "", modelDigest: "" }]]))
  const log = createLog({ stream: { write: (line) => void lines.push(line) } })
  const observer = new EngineObserver(new Metrics(), names, new SlowQuestions(log, now))
  return { observer, read: () => lines.splice(0).map((line) => JSON.parse(line) as Record<string, unknown>) }
}

test("a slow question is logged with its work and its types, and without ids and context", () => {
  const { observer, read } = observed()
  const question = { ...slow.question, context: { secret: "canary-context" } }
  observer.ended({ ...slow, question })
  const [line, ...others] = read()
  expect(others).toEqual([])
  expect(line).toMatchObject({
    ...{ level: "warn", msg: "slow question", method: "Check", store: "acme", outcome: "allowed", ms: 1235 },
    ...{ steps: 700, pages_read: 3, user_type: "user", relation: "viewer", object_type: "doc" },
  })
  expect(JSON.stringify(line)).not.toContain("canary")
})

test.each([
  [{ user: "group:a#member" }, "group#member"],
  [{ user: "user:*" }, "user"],
  [{ user: "canary" }, undefined],
  [{ user: "user:canary canary#b c" }, undefined],
  [{}, undefined],
])("the type of the user of %j is %j", (question, type) => {
  const { observer, read } = observed()
  observer.ended({ ...slow, question })
  const [line] = read()
  expect(line?.["user_type"]).toBe(type)
  expect(JSON.stringify(line)).not.toContain("canary")
})

test("a list has the type of its objects, and a store that no plan declares is not named", () => {
  const { observer, read } = observed()
  observer.ended({
    ...slow,
    store: "canary",
    question: { user: "user:ann", relation: "viewer", type: "doc" },
  })
  expect(read()).toMatchObject([{ object_type: "doc", store: "other" }])
})

test("quick questions, requests that ask nothing and those that wait for changes are not logged", () => {
  const { observer, read } = observed()
  observer.ended({ ...slow, durationMs: 999 })
  observer.ended({ ...slow, question: undefined })
  observer.ended({ ...slow, durationMs: undefined })
  expect(read()).toEqual([])
})

test("a flood of slow questions writes few lines, and tells how many it left out", () => {
  let now = 0
  const { observer, read } = observed(() => now)
  for (let at = 0; at < 100; at++) observer.ended(slow)
  expect(read()).toHaveLength(10)
  now = 1_000
  observer.ended(slow)
  expect(read()).toMatchObject([{ skipped: 90 }])
})
