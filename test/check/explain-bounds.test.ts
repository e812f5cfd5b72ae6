import { describe, expect, test } from "vitest"
import { explain } from "../../runtime/check/explain.ts"
import type { Graph } from "../../runtime/check/graph/graph.ts"
import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import type { Explanation } from "../../runtime/check/ports.ts"
import { isLong, reduced } from "../support/random-run.ts"
import { graphOf, unlimited } from "./hostile-shapes.ts"
import { modelOf, tupleOf } from "./model.ts"

// Shapes that would make an explanation run for ever, or be larger than anybody reads. What is asserted is work in steps, never time.

const groups = modelOf(`
type user
type group
  relations
    define member: [user, group#member]
    define ally: [user, group#ally] but not banned
    define banned: [user, group#banned]
type doc
  relations
    define viewer: [user, group#member]
    define guest: [user, group#ally]
    define blocked: [user, group#member]
    define reader: viewer but not blocked
`)

/** The explanation, in turns as short as they can be; no turn may do more than read a list some times. */
function explained(
  graph: Graph,
  question: string,
  model: LoadedModel = groups,
): { readonly explanation: Explanation; readonly steps: number } {
  const { user, relation, object } = tupleOf(question)
  const work = explain(model, { user, relation, object, explain: true }, unlimited)
  work.begin({ graph })
  let longest = 0
  for (let kind = "suspended"; kind !== "done"; ) {
    const before = work.steps
    kind = work.run(() => true).kind
    longest = Math.max(longest, work.steps - before)
  }
  const { steps } = work
  const { explanation } = work.answer({ revision: 1, stamp: "1" })
  work.release()
  if (explanation === undefined) throw new Error("no explanation")
  const json = JSON.stringify(explanation)
  expect(longest).toBeLessThan(200_000)
  expect(json.length).toBeLessThan(3_000_000)
  return { explanation, steps }
}

const many = (count: number, tuple: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => tupleOf(tuple(at)))

/** Sizes: in `npm test` they are large enough for a bound to fail where the work grows with the square. */
const members = reduced(20_000, 100_000)
const groupCount = reduced(4_000, 20_000)

describe("an explanation is bounded", () => {
  test(`by a group of ${members} members`, () => {
    const graph = graphOf([
      ...many(members, (at) => `group:1 member user:${at}`),
      tupleOf("doc:1 viewer group:1#member"),
      tupleOf("doc:1 blocked group:1#member"),
    ])
    const allowed = explained(graph, "doc:1 viewer user:7777")
    expect(allowed.explanation.tuples).toHaveLength(2)
    expect(allowed.steps).toBeLessThan(200)
    const denied = explained(graph, "doc:1 viewer user:stranger")
    expect(denied.explanation.misses).toContainEqual({
      add: [tupleOf("group:1 member user:stranger")],
      remove: [],
    })
    expect(denied.steps).toBeLessThan(5_000)
    const blocked = explained(graph, "doc:1 reader user:5")
    expect(blocked.explanation.misses).toContainEqual({
      add: [],
      remove: [tupleOf("doc:1 blocked group:1#member")],
    })
  })

  test("by 200 groups that have 200 others each", () => {
    const graph = graphOf([
      ...many(200, (at) => `doc:1 viewer group:upper${at}#member`),
      ...many(40_000, (at) => `group:upper${Math.floor(at / 200)} member group:lower${at % 200}#member`),
    ])
    const denied = explained(graph, "doc:1 viewer user:stranger")
    expect(denied.explanation.misses).toHaveLength(5)
    // What is read from its links again and again does not ask the solver again.
    expect(denied.steps).toBeLessThan(250_000)
  })

  test(`by ${groupCount} groups on a document, and by ${groupCount} of the user`, () => {
    const shared = graphOf([
      ...many(groupCount, (at) => `doc:1 viewer group:${at}#member`),
      ...many(groupCount, (at) => `doc:1 blocked group:${at}#member`),
      tupleOf(`group:${groupCount / 2} member user:ann`),
      tupleOf("doc:1 viewer user:bob"),
    ])
    expect(explained(shared, "doc:1 viewer user:ann").explanation.tuples).toHaveLength(2)
    expect(explained(shared, "doc:1 viewer user:stranger").explanation.misses).toHaveLength(5)
    expect(explained(shared, "doc:1 reader user:bob").explanation).toMatchObject({ allowed: true })
    expect(explained(shared, "doc:1 reader user:ann").explanation.blocked_by).toHaveLength(1)
    const spread = graphOf([
      ...many(groupCount, (at) => `group:${at} member user:ann`),
      ...many(groupCount, (at) => `doc:1 blocked group:${at}#member`),
      tupleOf("doc:1 viewer user:ann"),
      tupleOf("doc:2 viewer group:small#member"),
    ])
    expect(explained(spread, "doc:1 reader user:ann").explanation).toMatchObject({ allowed: false })
    expect(explained(spread, "doc:2 viewer user:ann").explanation.misses?.length).toBeGreaterThan(2)
  })

  for (const count of [1_000, ...(isLong ? [20_000] : [])])
    test(`by a chain of ${count}`, () => {
      const graph = graphOf([
        tupleOf("doc:1 guest group:0#ally"),
        ...many(count, (at) => `group:${at} ally group:${at + 1}#ally`),
        tupleOf(`group:${count} ally user:ann`),
      ])
      const allowed = explained(graph, "doc:1 guest user:ann")
      // The tree ends somewhere; the tuples are all there.
      expect(allowed.explanation).toMatchObject({ allowed: true, complete: false })
      expect(allowed.explanation.tuples).toHaveLength(count + 2)
      expect(explained(graph, "doc:1 guest user:bob").explanation.misses?.[0]).toEqual({
        add: [tupleOf("doc:1 guest user:bob")],
        remove: [],
      })
    })

  const length = reduced(2_000, 10_000)
  for (const relation of ["member", "ally"])
    test(`by a diamond with 2^20 ways, and by a cycle of ${length}, through ${relation}`, () => {
      const viewer = relation === "member" ? "viewer" : "guest"
      const tuples = [tupleOf(`doc:1 ${viewer} group:0a#${relation}`)]
      for (let level = 0; level < 20; level++)
        for (const from of ["a", "b"])
          for (const to of ["a", "b"])
            tuples.push(tupleOf(`group:${level}${from} ${relation} group:${level + 1}${to}#${relation}`))
      const diamond = graphOf([...tuples, tupleOf(`group:20a ${relation} user:ann`)])
      expect(explained(diamond, `doc:1 ${viewer} user:ann`).explanation.tuples).toHaveLength(22)
      expect(explained(diamond, `doc:1 ${viewer} user:bob`).explanation.misses).toHaveLength(5)
      const cycle = graphOf([
        tupleOf(`doc:1 ${viewer} group:0#${relation}`),
        ...many(length, (at) => `group:${at} ${relation} group:${(at + 1) % length}#${relation}`),
        tupleOf(`group:${length / 2} ${relation} user:ann`),
      ])
      expect(explained(cycle, `doc:1 ${viewer} user:ann`).explanation.tuples).toHaveLength(length / 2 + 2)
      expect(explained(cycle, `doc:1 ${viewer} user:bob`).explanation.allowed).toBe(false)
    })

  test("by exclusions inside a cycle", () => {
    const model = modelOf(`
type user
type node
  relations
    define next: [node]
    define beaten: [user] or winner from next
    define winner: [user] but not beaten
`)
    const count = reduced(601, 2_001)
    const next = many(count, (at) => `node:${at} next node:${(at + 1) % count}`)
    const odd = graphOf([...next, ...many(count, (at) => `node:${at} winner user:ann`)])
    expect(explained(odd, "node:7 winner user:ann", model).explanation).toMatchObject({
      allowed: false,
      undecided: true,
    })
    // The last has no next: every second one wins, each because the one after the next does.
    const line = graphOf([...next.slice(0, -1), ...many(count, (at) => `node:${at} winner user:ann`)])
    const { explanation } = explained(line, "node:0 winner user:ann", model)
    expect(explanation).toMatchObject({ allowed: true, complete: false })
    expect(explanation.tuples?.length).toBeGreaterThan((count - 1) / 2)
    expect(explained(line, "node:1 winner user:ann", model).explanation).toMatchObject({ allowed: false })
  })
})
