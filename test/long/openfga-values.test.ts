import { readFileSync } from "node:fs"
import { afterAll, beforeAll, expect, test } from "vitest"
import { describePostgres } from "../postgres.ts"
import { openfgaBinary, openfgaMissing } from "../support/openfga.ts"
import { tellAsked } from "../support/random-run.ts"
import { type Both, type Said, startBoth } from "./peer/both.ts"
import {
  contextValues,
  nameOfValueDifference,
  valueConditions,
  valuesModel,
} from "./peer/condition-values.ts"

// What a condition says of a value, given with the request or stored with a tuple, beside OpenFGA.

const binary = openfgaBinary()

/** `allow`, `deny` or `validation_error`: which code a contextual tuple's fault has is another difference. */
function outcomeOf({ status, json }: Said): string {
  if (status === 200) return json.allowed === true ? "allow" : "deny"
  return json.code === "invalid_tuple" ? "validation_error" : String(json.code)
}

describePostgres("values of conditions beside OpenFGA", () => {
  let both: Both
  beforeAll(async () => {
    if (binary !== undefined) both = await startBoth(binary)
  })
  afterAll(() => both?.close())

  test("each value for each type of a parameter", async (context) => {
    if (binary === undefined) return context.skip(openfgaMissing)
    await both.store()
    const { theirs, ours } = await both.model(valuesModel)
    expect([theirs.status, ours.status]).toEqual([201, 201])
    const counts: Record<string, number> = { checks: 0 }
    const unnamed: string[] = []
    for (const name of Object.keys(valueConditions))
      for (const x of contextValues)
        for (const [given, stored] of [
          [{ x }, {}],
          [{}, { x }],
        ]) {
          const key = { user: "user:a", relation: name, object: "doc:1" }
          const body = {
            tuple_key: key,
            context: given,
            contextual_tuples: { tuple_keys: [{ ...key, condition: { name, context: stored } }] },
          }
          const said = await both.call("POST", "/stores/{store}/check", body)
          const [one, other] = [outcomeOf(said.theirs), outcomeOf(said.ours)]
          counts["checks"] = (counts["checks"] ?? 0) + 1
          if (one === other) continue
          const difference = nameOfValueDifference(name, x, one, other)
          if (difference === undefined) unnamed.push(JSON.stringify([body, one, other]))
          else counts[difference] = (counts[difference] ?? 0) + 1
        }
    expect(unnamed).toEqual([])
    const readme = readFileSync(
      new URL("../../compiler/docs/coming-from/openfga.md", import.meta.url),
      "utf8",
    )
    const { checks, ...differences } = counts
    for (const difference of Object.keys(differences)) expect(readme).toContain(`\n| ${difference} `)
    expect(checks).toBe(2 * Object.keys(valueConditions).length * contextValues.length)
    tellAsked(context, counts)
  })
})
