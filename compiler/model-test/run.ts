import { Engine } from "../../runtime/check/engine.ts"
import { listObjects } from "../../runtime/check/list-objects.ts"
import { listUsers } from "../../runtime/check/list-users.ts"
import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import { MemorySource } from "../../runtime/check/memory-source.ts"
import { type CheckAnswer, CheckError, type TupleKey } from "../../runtime/check/ports.ts"
import type { ModelTest, TestAssertion, TestSuite } from "./suite.ts"

/** The answer to a question, or the message of the error. */
export type TestAnswer = { readonly got: boolean | readonly string[] } | { readonly error: string }

/** Explains the result of one check. */
export interface Reason {
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly answer: CheckAnswer
}

/** One question, its result, and the reasons of a wrong answer. */
export interface QuestionResult {
  readonly question: TestAssertion
  readonly passed: boolean
  readonly answer: TestAnswer
  /** For a list: the first missing or unexpected items. */
  readonly reasons: readonly Reason[]
}

/** One test. It passes when all its questions pass. */
export interface TestResult {
  readonly test: ModelTest
  readonly results: readonly QuestionResult[]
  readonly passed: boolean
}

/** The tests of one store that ran. */
export interface SuiteResult {
  readonly suite: TestSuite
  readonly tests: readonly TestResult[]
  readonly passed: boolean
}

/** Maximum number of explained items per wrong list. */
const explainedMax = 3

/** Runs the tests of a store that `chosen` selects, in file order. No test sees the tuples of another. */
export async function runSuite(
  suite: TestSuite,
  chosen: (test: ModelTest) => boolean = () => true,
): Promise<SuiteResult> {
  const tests: TestResult[] = []
  const picked = suite.tests.filter(chosen)
  await inWorlds(picked, async (world, test) => {
    const results: QuestionResult[] = []
    for (const question of test.questions)
      results.push(await runQuestion(world, suite.model.loaded, question))
    tests.push({ test, results, passed: results.every(({ passed }) => passed) })
  })
  return { suite, tests, passed: tests.every(({ passed }) => passed) }
}

/** Calls `run` for each test in turn, in a world with its tuples. Tests without tuples of their own share the store's world. */
export async function inWorlds(
  tests: readonly ModelTest[],
  run: (world: TestWorld, test: ModelTest) => Promise<void>,
): Promise<void> {
  let shared: TestWorld | undefined
  const common = commonTuples(tests)
  try {
    for (const test of tests) {
      if (test.tuples === common) {
        shared ??= new TestWorld(common)
        await run(shared, test)
        continue
      }
      const own = new TestWorld(test.tuples)
      try {
        await run(own, test)
      } finally {
        own.close()
      }
    }
  } finally {
    shared?.close()
  }
}

/** The list of tuples that several tests share. */
function commonTuples(tests: readonly ModelTest[]): readonly TupleKey[] | undefined {
  const seen = new Set<readonly TupleKey[]>()
  for (const { tuples } of tests)
    if (seen.has(tuples)) return tuples
    else seen.add(tuples)
  return undefined
}

/** Asks a question; a wrong answer gets the reasons from the engine's explanation. */
async function runQuestion(
  world: TestWorld,
  model: LoadedModel,
  question: TestAssertion,
): Promise<QuestionResult> {
  const answer = await world.answer(model, question)
  const passed = "got" in answer && answerKey(answer) === answerKey({ got: question.expected })
  return { question, passed, answer, reasons: passed ? [] : await world.reasons(model, question, answer) }
}

/** Equal answers give equal text: the order of a list does not matter. */
export function answerKey(answer: TestAnswer): string {
  if (!("got" in answer)) return `error ${answer.error}`
  return typeof answer.got === "boolean"
    ? String(answer.got)
    : JSON.stringify([...new Set(answer.got)].sort())
}

/** The tuples of one test, which can be queried with any model. */
export class TestWorld {
  readonly #engine: Engine

  constructor(tuples: readonly TupleKey[]) {
    const source = new MemorySource()
    source.write(...tuples)
    // No other process changes the tuples, so polling is off.
    this.#engine = new Engine(source, { pollMs: 0 })
  }

  close(): void {
    this.#engine.close()
  }

  async answer(model: LoadedModel, question: TestAssertion): Promise<TestAnswer> {
    try {
      return { got: await this.#ask(model, question) }
    } catch (error) {
      if (error instanceof CheckError) return { error: error.message }
      throw error
    }
  }

  /** Explains a wrong answer. An error needs no explanation. */
  async reasons(model: LoadedModel, question: TestAssertion, answer: TestAnswer): Promise<readonly Reason[]> {
    const reasons: Reason[] = []
    for (const { user, relation, object } of checksBehind(question, answer).slice(0, explainedMax)) {
      try {
        const request = { user, relation, object, context: question.context, explain: true }
        reasons.push({ user, relation, object, answer: await this.#engine.check("test", model, request) })
      } catch (error) {
        if (!(error instanceof CheckError)) throw error
      }
    }
    return reasons
  }

  /** Asks the engine that also runs in production. */
  async #ask(model: LoadedModel, question: TestAssertion): Promise<boolean | readonly string[]> {
    const { relation, context } = question
    if (question.kind === "check") {
      const { user, object } = question
      return (await this.#engine.check("test", model, { user, relation, object, context })).allowed
    }
    if (question.kind === "list_objects") {
      const { user, type } = question
      const work = listObjects(model, { user, relation, type, context }, this.#engine.bounds)
      return (await this.#engine.ask("test", work)).objects
    }
    const { object, filter } = question
    const work = listUsers(model, { object, relation, filter, context }, this.#engine.bounds)
    return (await this.#engine.ask("test", work)).users
  }
}

/** The checks that explain a wrong answer: the question itself, or for a list the items that differ. */
function checksBehind(
  question: TestAssertion,
  answer: TestAnswer,
): { user: string; relation: string; object: string }[] {
  const { relation } = question
  if (question.kind === "check") return [{ user: question.user, relation, object: question.object }]
  if (!("got" in answer) || typeof answer.got === "boolean") return []
  return differingItems(question.expected, answer.got).map((item) =>
    question.kind === "list_objects"
      ? { user: question.user, relation, object: item }
      : { user: item, relation, object: question.object },
  )
}

function differingItems(expected: readonly string[], got: readonly string[]): string[] {
  return [
    ...expected.filter((item) => !got.includes(item)),
    ...got.filter((item) => !expected.includes(item)),
  ]
}

/** A question in one line: `check user:ann viewer order:1 {"now":…}`. */
export function questionText(question: TestAssertion): string {
  const { relation } = question
  const context = question.context === undefined ? "" : ` ${JSON.stringify(question.context)}`
  if (question.kind === "check") return `check ${question.user} ${relation} ${question.object}${context}`
  if (question.kind === "list_objects")
    return `list_objects ${question.user} ${relation} ${question.type}${context}`
  const { type, relation: set } = question.filter
  return `list_users ${set === undefined ? type : `${type}#${set}`} ${relation} ${question.object}${context}`
}

/** An answer in one line. */
export function answerText(answer: TestAnswer): string {
  if (!("got" in answer)) return `error: ${answer.error}`
  if (typeof answer.got === "boolean") return answer.got ? "allowed" : "denied"
  return answer.got.length === 0 ? "nothing" : [...answer.got].sort().join(", ")
}
