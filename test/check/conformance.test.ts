import { expect, test } from "vitest"
import { Engine, type EngineOptions } from "../../runtime/check/engine.ts"
import { CheckError, type CheckErrorCode, type TupleKey } from "../../runtime/check/ports.ts"
import { conformanceYaml, describeConformance } from "../model/conformance.ts"
import { sampled } from "../support/random-run.ts"
import { MemorySource } from "./memory-source.ts"
import { keptModels } from "./model.ts"

interface Assertion {
  readonly tuple: TupleKey
  readonly contextualTuples?: readonly TupleKey[]
  readonly context?: Readonly<Record<string, unknown>>
  readonly expectation?: boolean
  readonly errorCode?: number
}

interface Case {
  readonly name: string
  readonly stages: readonly {
    readonly model: string
    readonly tuples?: readonly TupleKey[] | null
    readonly checkAssertions?: readonly Assertion[] | null
  }[]
}

/** OpenFGA's numbers for the errors a check can have. */
const numbers: Partial<Record<CheckErrorCode, number>> = {
  validation_error: 2000,
  authorization_model_resolution_too_complex: 2002,
  invalid_tuple: 2027,
}

const files = ["consolidated_1_1_tests.yaml", "abac_tests.yaml"]

/** Whole graphs, graphs of pages, and every list searched from both ends: the same answers are due. */
const ways: [name: string, options: EngineOptions][] = [
  ["whole graph", {}],
  ["pages", { paged: true }],
  ["always searching", { walkSteps: 0 }],
]

const modelOf = keptModels()

const keyOf = ({ object, relation, user }: TupleKey) => `${object}#${relation}@${user}`

async function outcomeOf(
  engine: Engine,
  model: ReturnType<typeof modelOf>,
  { tuple, context }: Assertion,
  contextualTuples: readonly TupleKey[],
): Promise<boolean | number> {
  try {
    const { user, relation, object } = tuple
    const request = { user, relation, object, contextualTuples, context }
    const { allowed } = await engine.check("store", model, request)
    const explained = await engine.check("store", model, { ...request, explain: true })
    expect(explained.allowed).toBe(allowed)
    return allowed
  } catch (error) {
    if (!(error instanceof CheckError)) throw error
    return numbers[error.code] ?? 0
  }
}

/** Runs every assertion; returns those that came out otherwise, and how many there were. */
async function run(cases: readonly Case[], contextual: boolean, options: EngineOptions) {
  const failures: unknown[] = []
  let count = 0
  for (const { name, stages } of cases) {
    // Given with the question there are no tuples of an earlier stage's model.
    if (contextual && stages.length > 1) continue
    const source = new MemorySource()
    const engine = new Engine(source, { pollMs: 0, deadlineMs: 1e9, ...options })
    for (const { model: text, tuples, checkAssertions } of stages) {
      const model = modelOf(text)
      const stored = tuples ?? []
      if (!contextual && stored.length > 0) engine.applied("store", source.write(...stored))
      for (const assertion of checkAssertions ?? []) {
        const own = assertion.contextualTuples ?? []
        const keys = new Set(own.map(keyOf))
        const given = contextual ? [...stored.filter((tuple) => !keys.has(keyOf(tuple))), ...own] : own
        const expected = assertion.errorCode ?? assertion.expectation
        const actual = await outcomeOf(engine, model, assertion, given)
        count++
        if (actual !== expected) failures.push({ name, ...assertion.tuple, expected, actual })
      }
    }
    engine.close()
  }
  return { failures, count }
}

describeConformance("OpenFGA's check assertions", () => {
  const cases = () => files.flatMap((file) => conformanceYaml<{ tests: Case[] }>(`openfga/${file}`).tests)
  for (const [name, options] of ways) {
    test(`hold with stored tuples (${name})`, async () => {
      const { failures, count } = await run(cases(), false, options)
      expect(failures).toEqual([])
      expect(count).toBe(485)
    })
  }
  for (const [name, options] of sampled(ways, 1))
    test(`hold with contextual tuples (${name})`, async () => {
      const { failures, count } = await run(cases(), true, options)
      expect(failures).toEqual([])
      expect(count).toBe(398)
    })
})
