import { describe, expect, it } from "vitest"
import { areAlike, factChanges, outcomeOf } from "../../compiler/request-compare/outcome.ts"
import type { Passage } from "../../runtime/gateway/in-process/passage.ts"

const sent: Passage["sent"][number] = {
  backend: "orders",
  origin: "http://orders",
  method: "GET",
  target: "/1",
  headers: [["x-user", "ann"]],
  body: Buffer.from("asked"),
  answer: { status: 200 },
} as Passage["sent"][number]
const limit = { is: "limit", counter: "api", key: "ann", callsMax: 10, periodSeconds: 60 }

function passage(part: object = {}): Passage {
  const response = {
    ...{ status: 200, reason: undefined, isCut: false },
    ...{ headers: [["x-role", "reader"]], body: Buffer.from("body") },
  }
  const made = { response, finished: { backend: "orders" }, sent: [sent], limits: [limit], ...part }
  return made as unknown as Passage
}

const answer = passage().response

/** Passages that differ from `passage()` in one fact each. */
const others: Readonly<Record<string, Passage>> = {
  status: passage({ response: { ...answer, status: 201 } }),
  "a header of the response": passage({ response: { ...answer, headers: [["x-role", "writer"]] } }),
  "one more header": passage({
    response: {
      ...answer,
      headers: [
        ["x-role", "reader"],
        ["x-more", "1"],
      ],
    },
  }),
  "the body of the response": passage({ response: { ...answer, body: Buffer.from("other") } }),
  "no backend": passage({ finished: {} }),
  problem: passage({ finished: { backend: "orders", problem: "forbidden" } }),
  reason: passage({ finished: { backend: "orders", reason: "why" } }),
  "no request to a backend": passage({ sent: [] }),
  "a target": passage({ sent: [{ ...sent, target: "/2" }] }),
  "a method": passage({ sent: [{ ...sent, method: "POST" }] }),
  "an origin": passage({ sent: [{ ...sent, origin: "http://other" }] }),
  "a header of the request": passage({ sent: [{ ...sent, headers: [["x-user", "bob"]] }] }),
  "the body of the request": passage({ sent: [{ ...sent, body: Buffer.from("other") }] }),
  "a counter": passage({ limits: [{ ...limit, counter: "other" }] }),
  "the key of a counter": passage({ limits: [{ ...limit, key: "bob" }] }),
  "the calls of a limit": passage({ limits: [{ ...limit, callsMax: 11 }] }),
  "no limit": passage({ limits: [] }),
}

describe("the quick comparison of two passages", () => {
  for (const [what, other] of Object.entries(others))
    it(`notices ${what}, as the comparison of facts does`, () => {
      expect(factChanges(outcomeOf(passage()), outcomeOf(other))).not.toEqual([])
      expect(areAlike(passage(), other)).toBe(false)
    })

  it("finds equal ones alike, whatever their ids and their times are", () => {
    const withId = (id: string) =>
      passage({ response: { ...answer, headers: [...answer.headers, ["X-Request-Id", id]] } })
    expect(areAlike(withId("1"), withId("2"))).toBe(true)
    expect(factChanges(outcomeOf(withId("1")), outcomeOf(withId("2")))).toEqual([])
  })

  it("does not compare bodies of problems, which have an id", () => {
    const refused = (body: string) =>
      passage({
        finished: { problem: "forbidden" },
        response: { ...answer, status: 403, body: Buffer.from(body) },
      })
    expect(areAlike(refused("1"), refused("2"))).toBe(true)
    expect(factChanges(outcomeOf(refused("1")), outcomeOf(refused("2")))).toEqual([])
  })
})
