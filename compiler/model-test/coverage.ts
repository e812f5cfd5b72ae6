import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import type { Span } from "../core/source.ts"
import { type ModelPart, partsOf } from "./mutants.ts"
import { answerKey, inWorlds } from "./run.ts"
import type { ModelTest, TestedModel, TestSuite } from "./suite.ts"

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

/** How many percent of the parts are covered, rounded down: all of them only when nothing is missing. */
export function percentOf({ parts, gaps }: ModelCoverage): number {
  return parts === 0 ? 100 : Math.floor(((parts - gaps.length) / parts) * 100)
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
  const parts = partsOf(model.loaded.plan.model)
  /** What no question has noticed yet, with the models that lack it. */
  const unnoticed = new Map<ModelPart, LoadedModel>(parts.map((part) => [part, part.without()]))
  await inWorlds(tests, async (world, { questions }) => {
    for (const question of questions) {
      const whole = answerKey(await world.answer(model.loaded, question))
      for (const [part, without] of unnoticed)
        if (answerKey(await world.answer(without, question)) !== whole) unnoticed.delete(part)
    }
  })
  return { model, parts: parts.length, gaps: [...unnoticed.keys()].map((part) => gapOf(part, model)) }
}

function gapOf({ type, relation, condition, text }: ModelPart, model: TestedModel): Gap {
  if (condition !== undefined)
    return { of: `condition ${condition}`, text, span: model.placeOfCondition(condition) }
  return { of: `${type}#${relation}`, text, span: model.placeOf(type ?? "", relation) }
}
