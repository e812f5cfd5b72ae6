import type { Span } from "../core/source.ts"
import { type ModelPart, partsOf } from "./mutants.ts"
import { answerKey, TestWorld } from "./run.ts"
import type { ModelTest, Question, TestedModel, TestSuite } from "./suite.ts"

/** A part of a model that could be removed without any test noticing. */
export interface Gap {
  /** The relation `type#relation`, or `condition NAME`. */
  readonly of: string
  readonly text: string
  readonly span: Span | undefined
}

/** How much of a model its tests hold fast. */
export interface ModelCoverage {
  readonly model: TestedModel
  readonly parts: number
  readonly gaps: readonly Gap[]
}

/** Suites by model: a model that several files test is measured by all of them together, one that none tests not at all. */
export async function measureCoverage(suites: readonly TestSuite[]): Promise<readonly ModelCoverage[]> {
  const byModel = new Map<string, TestSuite[]>()
  for (const suite of suites) {
    if (suite.tests.length === 0) continue
    const key = `${suite.model.name} ${suite.model.loaded.digest}`
    byModel.set(key, [...(byModel.get(key) ?? []), suite])
  }
  const measured: ModelCoverage[] = []
  for (const [first, ...more] of byModel.values())
    if (first !== undefined)
      measured.push(
        await coverageOf(
          first.model,
          [first, ...more].flatMap(({ tests }) => tests),
        ),
      )
  return measured
}

/** A part is covered when some answer would be another one without it. */
async function coverageOf(model: TestedModel, tests: readonly ModelTest[]): Promise<ModelCoverage> {
  const worlds = await Promise.all(tests.map((test) => AnsweredTest.of(model, test)))
  const parts = partsOf(model.loaded.plan.model)
  const gaps: Gap[] = []
  try {
    for (const part of parts) if (!(await isNoticed(part, worlds))) gaps.push(gapOf(part, model))
  } finally {
    for (const { world } of worlds) world.close()
  }
  return { model, parts: parts.length, gaps }
}

async function isNoticed(part: ModelPart, tests: readonly AnsweredTest[]): Promise<boolean> {
  const model = part.without()
  for (const { world, answers } of tests)
    for (const [question, key] of answers)
      if (answerKey(await world.answer(model, question)) !== key) return true
  return false
}

/** A test's questions with the answers the whole model gives. */
class AnsweredTest {
  readonly world: TestWorld
  readonly answers = new Map<Question, string>()

  private constructor(world: TestWorld) {
    this.world = world
  }

  static async of(model: TestedModel, test: ModelTest): Promise<AnsweredTest> {
    const answered = new AnsweredTest(new TestWorld(test.tuples))
    for (const question of test.questions)
      answered.answers.set(question, answerKey(await answered.world.answer(model.loaded, question)))
    return answered
  }
}

function gapOf({ type, relation, condition, text }: ModelPart, model: TestedModel): Gap {
  if (condition !== undefined)
    return { of: `condition ${condition}`, text, span: model.placeOfCondition(condition) }
  return { of: `${type}#${relation}`, text, span: model.placeOf(type ?? "", relation) }
}
