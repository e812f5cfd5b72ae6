import { describe, expect, test } from "vitest"
import { Evaluation, type EvaluationOptions } from "../../runtime/check/evaluate/evaluation.ts"
import { readRequest } from "../../runtime/check/evaluate/request.ts"
import type { Graph } from "../../runtime/check/graph/graph.ts"
import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import { CheckError, type TupleKey } from "../../runtime/check/ports.ts"
import { graphOf, unlimited } from "./hostile-shapes.ts"
import { modelOf, tupleOf } from "./model.ts"

// Shapes that make naive engines run for ever. What is asserted is work in steps, never time.

const groups = modelOf(`
type user
type group
  relations
    define member: [user, group#member]
    define banned: [user, group#banned]
    define ally: [user, group#ally] but not banned
type doc
  relations
    define viewer: [user, group#member]
    define guest: [user, group#ally]
`)

interface Work {
  readonly outcome: boolean | string
  readonly steps: number
}

function evaluate(
  graph: Graph,
  question: string,
  options: Partial<EvaluationOptions> = {},
  model: LoadedModel = groups,
): Work {
  const { user, relation, object } = tupleOf(question)
  const evaluation = new Evaluation()
  evaluation.begin(readRequest({ graph }, model, { user, relation, object }), { ...unlimited, ...options })
  try {
    const progress = evaluation.run(() => false)
    if (progress.kind !== "done") throw new Error("not decided")
    return { outcome: evaluation.allowed, steps: evaluation.question.steps }
  } catch (error) {
    if (!(error instanceof CheckError)) throw error
    return { outcome: error.code, steps: evaluation.question.steps }
  }
}

const tooComplex = "authorization_model_resolution_too_complex"

/** doc:1 is seen by group 1, of which group 2 is a member, and so on; ann is in the last of `count`. */
function* chain(count: number, relation: "member" | "ally"): Generator<TupleKey> {
  yield tupleOf(`doc:1 ${relation === "member" ? "viewer" : "guest"} group:1#${relation}`)
  for (let at = 1; at < count; at++) yield tupleOf(`group:${at} ${relation} group:${at + 1}#${relation}`)
  yield tupleOf(`group:${count} ${relation} user:ann`)
}

describe("the depth limit", () => {
  for (const [count, outcome] of [
    [10, true],
    [24, true],
    [25, true],
    [26, tooComplex],
    [1000, tooComplex],
  ] as const) {
    for (const walkSteps of [0, 256]) {
      test(`25 answers a chain of ${count} usersets with ${outcome} (walking ${walkSteps} steps)`, () => {
        for (const relation of ["member", "ally"] as const) {
          const ask = `doc:1 ${relation === "member" ? "viewer" : "guest"} user:ann`
          const graph = graphOf(chain(count, relation))
          expect(evaluate(graph, ask, { depthMax: 25, walkSteps }).outcome).toBe(outcome)
          expect(evaluate(graph, ask, { walkSteps }).outcome).toBe(true)
        }
      })
    }
  }

  test("counts the shortest way: a long one beside it costs no answer", () => {
    const tuples = [
      ...chain(40, "ally"),
      tupleOf("doc:1 guest group:38#ally"),
      tupleOf("doc:1 guest group:20#ally"),
    ]
    for (const order of [tuples, [...tuples].reverse()])
      expect(evaluate(graphOf(order), "doc:1 guest user:ann", { depthMax: 25 }).outcome).toBe(true)
  })

  test("is an error for a stranger too when there may be more below", () => {
    const graph = graphOf(chain(40, "ally"))
    expect(evaluate(graph, "doc:1 guest user:bob", { depthMax: 25 }).outcome).toBe(tooComplex)
    expect(evaluate(graph, "doc:1 guest user:bob").outcome).toBe(false)
  })
})

describe("work is bounded", () => {
  test("a chain of 1,000 and one of 20,000", () => {
    for (const count of [1000, 20_000]) {
      const graph = graphOf(chain(count, "ally"))
      const { outcome, steps } = evaluate(graph, "doc:1 guest user:ann")
      expect(outcome).toBe(true)
      expect(steps).toBeLessThan(40 * count)
    }
  })

  test("a group of 100,000 members", () => {
    const members = Array.from({ length: 100_000 }, (_, at) => tupleOf(`group:1 member user:${at}`))
    const graph = graphOf([...members, tupleOf("doc:1 viewer group:1#member")])
    expect(evaluate(graph, "doc:1 viewer user:77777").steps).toBeLessThan(20)
    expect(evaluate(graph, "doc:1 viewer user:stranger").steps).toBeLessThan(20)
  })

  test("a document shared with 20,000 groups", () => {
    const shares = Array.from({ length: 20_000 }, (_, at) => tupleOf(`doc:1 viewer group:${at}#member`))
    const graph = graphOf([
      ...shares,
      tupleOf("group:15000 member user:ann"),
      tupleOf("group:0 member group:9#member"),
    ])
    const found = evaluate(graph, "doc:1 viewer user:ann")
    expect(found.outcome).toBe(true)
    expect(found.steps).toBeLessThan(50_000)
    expect(evaluate(graph, "doc:1 viewer user:bob").outcome).toBe(false)
  })

  test("every object a search looks at is a step, so that none goes on for long between two looks", () => {
    const shares = Array.from({ length: 50_000 }, (_, at) => tupleOf(`doc:1 viewer group:${at}#member`))
    const deeper = Array.from({ length: 50_000 }, (_, at) =>
      tupleOf(`group:${at} member group:${at + 50_000}#member`),
    )
    const graph = graphOf([...shares, ...deeper, tupleOf("group:elsewhere member user:ann")])
    expect(evaluate(graph, "doc:1 viewer user:ann").steps).toBeGreaterThan(50_000)
    // Who stands nowhere needs no search.
    expect(evaluate(graph, "doc:1 viewer user:stranger").steps).toBeLessThan(100)
  })

  test("a user in 20,000 groups against a document of one small group", () => {
    const memberships = Array.from({ length: 20_000 }, (_, at) => tupleOf(`group:${at} member user:ann`))
    const graph = graphOf([
      ...memberships,
      tupleOf("doc:1 viewer group:small#member"),
      tupleOf("group:small member group:smaller#member"),
      tupleOf("group:smaller member user:bob"),
    ])
    expect(evaluate(graph, "doc:1 viewer user:ann")).toEqual({ outcome: false, steps: expect.any(Number) })
    expect(evaluate(graph, "doc:1 viewer user:ann").steps).toBeLessThan(100)
    expect(evaluate(graph, "doc:1 viewer user:ann", { walkSteps: 0 }).steps).toBeLessThan(100)
  })

  test("20,000 groups under a document against a user in one of them", () => {
    const tuples = [tupleOf("doc:1 viewer group:0#member")]
    for (let at = 1; at < 12 ** 4; at++)
      tuples.push(tupleOf(`group:${Math.floor((at - 1) / 12)} member group:${at}#member`))
    const graph = graphOf([...tuples, tupleOf(`group:${12 ** 4 - 1} member user:ann`)])
    const found = evaluate(graph, "doc:1 viewer user:ann")
    expect(found.outcome).toBe(true)
    expect(found.steps).toBeLessThan(2_000)
    const denied = evaluate(graph, "doc:1 viewer user:bob")
    expect(denied.outcome).toBe(false)
    expect(denied.steps).toBeLessThan(2_000)
  })

  for (const relation of ["member", "ally"] as const) {
    test(`a diamond with 2^20 ways through ${relation}`, () => {
      const tuples = [tupleOf(`doc:1 ${relation === "member" ? "viewer" : "guest"} group:0a#${relation}`)]
      for (let level = 0; level < 20; level++)
        for (const from of ["a", "b"])
          for (const to of ["a", "b"])
            tuples.push(tupleOf(`group:${level}${from} ${relation} group:${level + 1}${to}#${relation}`))
      const graph = graphOf(tuples)
      const { outcome, steps } = evaluate(
        graph,
        `doc:1 ${relation === "member" ? "viewer" : "guest"} user:ann`,
      )
      expect(outcome).toBe(false)
      expect(steps).toBeLessThan(2_000)
    })

    test(`a cycle of 10,000 through ${relation}`, () => {
      const viewer = relation === "member" ? "viewer" : "guest"
      const tuples = [tupleOf(`doc:1 ${viewer} group:0#${relation}`)]
      for (let at = 0; at < 10_000; at++)
        tuples.push(tupleOf(`group:${at} ${relation} group:${(at + 1) % 10_000}#${relation}`))
      const graph = graphOf([...tuples, tupleOf(`group:5000 ${relation} user:ann`)])
      for (const [user, outcome] of [
        ["ann", true],
        ["bob", false],
      ] as const) {
        const work = evaluate(graph, `doc:1 ${viewer} user:${user}`)
        expect(work.outcome).toBe(outcome)
        expect(work.steps).toBeLessThan(1_000_000)
      }
    })
  }

  test("exclusions inside a cycle take the slow path and end", () => {
    const model = modelOf(`
type user
type node
  relations
    define next: [node]
    define beaten: [user] or winner from next
    define winner: [user] but not beaten
`)
    const count = 2_001
    const cycle = Array.from({ length: count }, (_, at) =>
      tupleOf(`node:${at} next node:${(at + 1) % count}`),
    )
    // Node 2 is no winner of its own, so node 1 wins, so node 0 is beaten.
    const graph = graphOf([...cycle, tupleOf("node:0 winner user:ann"), tupleOf("node:1 winner user:ann")])
    expect(evaluate(graph, "node:1 winner user:ann", {}, model).outcome).toBe(true)
    expect(evaluate(graph, "node:0 winner user:ann", {}, model).outcome).toBe(false)
    // An odd cycle in which everybody would win if the next did not: undefined, so denied.
    const winners = Array.from({ length: count }, (_, at) => tupleOf(`node:${at} winner user:ann`))
    const { outcome, steps } = evaluate(graphOf([...cycle, ...winners]), "node:7 winner user:ann", {}, model)
    expect(outcome).toBe(false)
    expect(steps).toBeLessThan(200_000)
  })

  test("work beyond the step limit is a typed error", () => {
    const graph = graphOf(chain(1000, "ally"))
    const { outcome, steps } = evaluate(graph, "doc:1 guest user:ann", { stepsMax: 500 })
    expect(outcome).toBe(tooComplex)
    expect(steps).toBeLessThan(2_000)
  })
})
