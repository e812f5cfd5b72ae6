import { expect, test } from "vitest"
import { Engine, type EngineOptions } from "../../runtime/check/engine.ts"
import { listObjects } from "../../runtime/check/list-objects.ts"
import { listUsers } from "../../runtime/check/list-users.ts"
import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import { CheckError, type CheckErrorCode, type TupleKey } from "../../runtime/check/ports.ts"
import type { Circumstances, ListUsersAnswer } from "../../runtime/check/questions.ts"
import type { EngineWork } from "../../runtime/check/work.ts"
import { conformanceYaml, describeConformance } from "../model/conformance.ts"
import { sampled } from "../support/random-run.ts"
import { MemorySource } from "./memory-source.ts"
import { keptModels } from "./model.ts"

interface Assertion<Request> {
  readonly request: Request
  readonly contextualTuples?: readonly TupleKey[]
  readonly context?: Readonly<Record<string, unknown>>
  readonly expectation?: readonly string[] | null
  readonly errorCode?: number
}

interface ObjectsRequest {
  readonly user: string
  readonly type: string
  readonly relation: string
}

interface UsersRequest {
  readonly object: string
  readonly relation: string
  readonly filters: readonly string[]
}

interface Case {
  readonly name: string
  readonly stages: readonly {
    readonly model: string
    readonly tuples?: readonly TupleKey[] | null
    readonly listObjectsAssertions?: readonly Assertion<ObjectsRequest>[] | null
    readonly listUsersAssertions?: readonly Assertion<UsersRequest>[] | null
  }[]
}

/** OpenFGA's numbers for the errors a list can have. */
const numbers: Partial<Record<CheckErrorCode, number>> = {
  validation_error: 2000,
  authorization_model_resolution_too_complex: 2002,
  type_not_found: 2021,
  relation_not_found: 2022,
  invalid_tuple: 2027,
}

const files = ["consolidated_1_1_tests.yaml", "abac_tests.yaml"]

/** Whole graphs, graphs of pages, and every list searched from both ends; all at once and item by item: the same answers are due. */
const ways: [name: string, options: EngineOptions, pageSize?: number][] = [
  ["whole graph", {}],
  ["two by two, pages of the graph", { paged: true }, 2],
  ["always searching", { walkSteps: 0 }],
  ["pages of the graph", { paged: true }],
  ["one by one", {}, 1],
]

const modelOf = keptModels()

const keyOf = ({ object, relation, user }: TupleKey) => `${object}#${relation}@${user}`

interface Page {
  readonly items: readonly string[]
  readonly next: string | undefined
}

type Asker = (pageSize: number | undefined, after: string | undefined) => Promise<Page>

/** All pages of a list, or the number of its error. */
async function whole(ask: Asker, pageSize: number | undefined): Promise<readonly string[] | number> {
  try {
    const items: string[] = []
    let after: string | undefined
    do {
      const page = await ask(pageSize, after)
      if (pageSize !== undefined) expect(page.items.length).toBeLessThanOrEqual(pageSize)
      items.push(...page.items)
      after = page.next
    } while (after !== undefined)
    return items.sort()
  } catch (error) {
    if (!(error instanceof CheckError)) throw error
    return numbers[error.code] ?? 0
  }
}

type Stage = Case["stages"][number]

/** The questions of one kind in a stage: what is due, and how to ask. */
type Questions = (
  stage: Stage,
  model: LoadedModel,
) => {
  readonly contextualTuples: readonly TupleKey[]
  readonly about: unknown
  readonly expected: readonly string[] | number
  readonly ask: (engine: Engine, circumstances: Circumstances) => Asker
}[]

const objectQuestions: Questions = (stage, model) =>
  (stage.listObjectsAssertions ?? []).map(
    ({ request, contextualTuples = [], context, expectation, errorCode }) => ({
      contextualTuples,
      about: { request, context, contextualTuples },
      expected: errorCode ?? [...(expectation ?? [])].sort(),
      ask: (engine, circumstances) => async (pageSize, after) => {
        const question = { ...request, ...circumstances, context, pageSize, after }
        const work: EngineWork<{ objects: readonly string[]; next?: string | undefined }> = listObjects(
          model,
          question,
          engine.bounds,
        )
        const { objects, next } = await engine.ask("store", work)
        return { items: objects, next }
      },
    }),
  )

const userQuestions: Questions = (stage, model) =>
  (stage.listUsersAssertions ?? []).map(
    ({ request, contextualTuples = [], context, expectation, errorCode }) => ({
      contextualTuples,
      about: { request, context, contextualTuples },
      expected: errorCode ?? [...(expectation ?? [])].sort(),
      ask: (engine, circumstances) => async (pageSize, after) => {
        const [type = "", relation] = (request.filters[0] ?? "").split("#")
        const question = {
          ...request,
          filter: { type, relation },
          ...circumstances,
          context,
          pageSize,
          after,
        }
        const work: EngineWork<ListUsersAnswer> = listUsers(model, question, engine.bounds)
        const { users, excluded, next } = await engine.ask("store", work)
        if (pageSize !== undefined) expect(users.length + excluded.length).toBeLessThanOrEqual(pageSize)
        return { items: users, next }
      },
    }),
  )

/** Runs every assertion; returns those that came out otherwise, and how many there were. */
async function run(
  questions: Questions,
  contextual: boolean,
  options: EngineOptions,
  pageSize: number | undefined,
) {
  const failures: unknown[] = []
  let count = 0
  for (const { name, stages } of files.flatMap(
    (file) => conformanceYaml<{ tests: Case[] }>(`openfga/${file}`).tests,
  )) {
    // Given with the question there are no tuples of an earlier stage's model.
    if (contextual && stages.length > 1) continue
    const source = new MemorySource()
    const engine = new Engine(source, { pollMs: 0, deadlineMs: 1e9, ...options })
    for (const stage of stages) {
      const stored = stage.tuples ?? []
      if (!contextual && stored.length > 0) engine.applied("store", source.write(...stored))
      for (const { contextualTuples, about, expected, ask } of questions(stage, modelOf(stage.model))) {
        const keys = new Set(contextualTuples.map(keyOf))
        const given = contextual
          ? [...stored.filter((tuple) => !keys.has(keyOf(tuple))), ...contextualTuples]
          : contextualTuples
        const actual = await whole(ask(engine, { contextualTuples: given }), pageSize)
        count++
        if (JSON.stringify(actual) !== JSON.stringify(expected))
          failures.push({ name, about, expected, actual })
      }
    }
    engine.close()
  }
  return { failures, count }
}

describeConformance("OpenFGA's list assertions", () => {
  for (const [name, options, pageSize] of sampled(ways, 3))
    for (const contextual of [false, true]) {
      const how = `${contextual ? "contextual" : "stored"} tuples (${name})`
      test(`of objects hold with ${how}`, async () => {
        const { failures, count } = await run(objectQuestions, contextual, options, pageSize)
        expect(failures).toEqual([])
        expect(count).toBe(contextual ? 281 : 345)
      })

      test(`of users hold with ${how}`, async () => {
        const { failures, count } = await run(userQuestions, contextual, options, pageSize)
        expect(failures).toEqual([])
        expect(count).toBe(contextual ? 330 : 386)
      })
    }
})
