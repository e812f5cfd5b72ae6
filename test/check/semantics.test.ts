import { describe, expect, test } from "vitest"
import { Engine, type EngineOptions } from "../../runtime/check/engine.ts"
import { CheckError, type CheckRequest } from "../../runtime/check/ports.ts"
import type { Row } from "./condition-rows.ts"
import { MemorySource } from "./memory-source.ts"
import { modelOf, tupleOf } from "./model.ts"
import { rows } from "./semantic-rows.ts"

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
  ["paged", { paged: true }],
]

describe("semantics", () => {
  for (const row of rows)
    test(row.name, async () => {
      for (const [name, options] of ways) {
        const source = new MemorySource()
        if (row.tuples !== undefined) source.write(...row.tuples.map(tupleOf))
        const engine = new Engine(source, { pollMs: 0, deadlineMs: 1e9, ...options })
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
