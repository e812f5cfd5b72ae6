import { describe, expect, test } from "vitest"
import { Engine, type EngineOptions } from "../../runtime/check/engine.ts"
import { CheckError, type CheckRequest, type ExplainNode } from "../../runtime/check/ports.ts"
import { MemorySource } from "./memory-source.ts"
import { modelOf, tupleOf } from "./model.ts"
import { groups, type Row, rows } from "./semantic-rows.ts"

async function outcome(
  engine: Engine,
  row: Row,
  question: string,
  explain: boolean,
): Promise<boolean | string> {
  const { user, relation, object } = tupleOf(question)
  const contextualTuples = row.contextual?.map(tupleOf)
  const request: CheckRequest = { user, relation, object, contextualTuples, context: row.context, explain }
  try {
    return (await engine.check("store", modelOf(row.model), request)).allowed
  } catch (error) {
    if (error instanceof CheckError) return `${error.code}: ${error.message}`
    throw error
  }
}

const ways: [name: string, options: EngineOptions][] = [
  ["whole", {}],
  ["searching", { walkSteps: 0 }],
  ["paged", { paged: { pagesMax: 1_000 } }],
]

describe("semantics", () => {
  for (const row of rows)
    test(row.name, async () => {
      for (const [name, options] of ways) {
        const source = new MemorySource()
        if (row.tuples !== undefined) source.write(...row.tuples.map(tupleOf))
        const engine = new Engine(source, { pollMs: 0, ...options, ...row.options })
        for (const [question, expected] of Object.entries(row.ask))
          for (const explain of [false, true])
            expect([name, question, explain, await outcome(engine, row, question, explain)]).toEqual([
              name,
              question,
              explain,
              expected,
            ])
        engine.close()
      }
    })
})

/** The tree as lines: label, result, reason, tuples. */
function lines(node: ExplainNode, indent = ""): string[] {
  const tuples = (node.tuples ?? []).map(({ user, relation, object }) => `${object}#${relation}@${user}`)
  const note = [...tuples, ...(node.reason === undefined ? [] : [node.reason])].join("; ")
  const line = `${indent}${node.label} ${node.result}${note === "" ? "" : ` (${note})`}`
  return [line, ...(node.children ?? []).flatMap((child) => lines(child, `${indent}  `))]
}

test("explain writes down what was evaluated, with the tuples that counted", async () => {
  const source = new MemorySource()
  source.write(
    ...[
      "doc:1 parent doc:0",
      "doc:0 viewer group:team#member",
      "group:team member user:ann",
      "group:team member group:team#member",
      "doc:1 blocked user:bob",
    ].map(tupleOf),
  )
  const engine = new Engine(source, { pollMs: 0 })
  const explained = async (question: string) => {
    const { user, relation, object } = tupleOf(question)
    const { explanation } = await engine.check("store", modelOf(groups), {
      user,
      relation,
      object,
      explain: true,
    })
    return explanation === undefined ? [] : lines(explanation)
  }
  expect(await explained("doc:1 reader user:ann")).toEqual([
    "doc:1#reader true",
    "  but not true",
    "    union true",
    "      doc:0#viewer true (doc:1#parent@doc:0)",
    "        group:team#member true (doc:0#viewer@group:team#member; group:team#member@user:ann)",
    "    union false",
  ])
  expect(await explained("group:team member user:cat")).toEqual([
    "group:team#member false",
    "  group:team#member false (group:team#member@group:team#member; cycle: it depends on itself, which grants nothing)",
  ])
  expect(await explained("doc:1 parent user:ann")).toEqual([
    "doc:1#parent false (no user can have this relation)",
  ])
  engine.close()
})

test("explain says so when a cycle through an exclusion was decided as a whole", async () => {
  const model = modelOf(`
type user
type node
  relations
    define next: [node]
    define beaten: [user] or winner from next
    define winner: [user] but not beaten
`)
  const source = new MemorySource()
  source.write(...["node:1 next node:1", "node:1 winner user:ann"].map(tupleOf))
  const engine = new Engine(source, { pollMs: 0 })
  const request = { user: "user:ann", relation: "winner", object: "node:1", explain: true }
  const { allowed, explanation } = await engine.check("store", model, request)
  expect(allowed).toBe(false)
  expect(explanation).toMatchObject({ label: "node:1#winner", result: "false" })
  expect(explanation?.reason).toContain("a whole cycle")
  engine.close()
})
