import { describe, expect, test } from "vitest"
import { batchCheck } from "../../runtime/check/batch-check.ts"
import { Engine } from "../../runtime/check/engine.ts"
import { listObjects } from "../../runtime/check/list-objects.ts"
import { listUsers } from "../../runtime/check/list-users.ts"
import { MemorySource } from "../../runtime/check/memory-source.ts"
import { CheckError, type TupleKey } from "../../runtime/check/ports.ts"
import { advisories, type Step } from "./advisory-rows.ts"
import { engineWays } from "./engine-ways.ts"
import { modelOf } from "./model.ts"

/** `object relation user [condition]`. */
function tupleOf(text: string): TupleKey {
  const [object = "", relation = "", user = "", condition] = text.split(" ")
  return condition === undefined
    ? { object, relation, user }
    : { object, relation, user, condition: { name: condition } }
}

async function said<Answer>(ask: () => Answer | Promise<Answer>): Promise<Answer | string> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof CheckError) return `${error.code}: ${error.message}`
    throw error
  }
}

/** What the engine says to the questions of a step, in the form of the table. */
async function answers(engine: Engine, model: ReturnType<typeof modelOf>, step: Step): Promise<Step> {
  const circumstances = { contextualTuples: step.contextual?.map(tupleOf), context: step.context }
  const check: Record<string, boolean | string> = {}
  for (const question of Object.keys(step.check ?? {})) {
    const { object, relation, user } = tupleOf(question)
    const request = { object, relation, user, ...circumstances }
    check[question] = await said(async () => (await engine.check("store", model, request)).allowed)
  }
  const objects: Record<string, readonly string[] | string> = {}
  for (const question of Object.keys(step.objects ?? {})) {
    const [type = "", relation = "", user = ""] = question.split(" ")
    const work = listObjects(model, { type, relation, user, ...circumstances }, engine.bounds)
    objects[question] = await said(async () => [...(await engine.ask("store", work)).objects].sort())
  }
  const users: Record<string, readonly string[]> = {}
  for (const question of Object.keys(step.users ?? {})) {
    const [object = "", relation = "", filter = ""] = question.split(" ")
    const [type = "", userRelation] = filter.split("#")
    const work = listUsers(
      model,
      { object, relation, filter: { type, relation: userRelation }, ...circumstances },
      engine.bounds,
    )
    const answer = await engine.ask("store", work)
    users[question] = [...[...answer.users].sort(), ...answer.excluded.map((user) => `-${user}`).sort()]
  }
  return {
    ...step,
    ...(step.check === undefined ? {} : { check }),
    ...(step.objects === undefined ? {} : { objects }),
    ...(step.users === undefined ? {} : { users }),
  }
}

describe("what security advisories were about", () => {
  for (const advisory of advisories)
    test(advisory.name, async () => {
      const model = modelOf(advisory.model)
      for (const [name, options] of engineWays) {
        const source = new MemorySource()
        source.write(...advisory.tuples.map(tupleOf))
        const engine = new Engine(source, { pollMs: 0, deadlineMs: 1e9, ...options })
        for (const step of advisory.steps)
          expect([name, await answers(engine, model, step)]).toEqual([name, step])
        engine.close()
      }
    })

  test("one tuple asked several times in a batch, each under its own context (CVE-2026-34972)", async () => {
    const advisory = advisories.find(({ name }) => name.includes("CVE-2026-33729"))
    const model = modelOf(advisory?.model ?? "")
    const source = new MemorySource()
    source.write(...(advisory?.tuples ?? []).map(tupleOf))
    const engine = new Engine(source, { pollMs: 0, deadlineMs: 1e9 })
    const key = { object: "doc:1", relation: "viewer", user: "user:ann" }
    const items = [{ age: 1 }, { age: 20 }, {}, { age: 2 }].map((context) => ({ ...key, context }))
    const { results } = await engine.ask("store", batchCheck(model, items, engine.bounds))
    expect(results.map((result) => (result instanceof CheckError ? result.code : result.allowed))).toEqual([
      true,
      false,
      "validation_error",
      true,
    ])
    engine.close()
  })
})
