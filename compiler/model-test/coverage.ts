import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import type { Span } from "../core/source.ts"
import { type ModelPart, partsOf } from "./mutants.ts"
import { answerKey, inWorlds } from "./run.ts"
import type { ModelTest, TestedModel, TestSuite } from "./suite.ts"

/** A part of a model that could be removed without failing any test. */
export interface Gap {
  /** The relation `type#relation`, or `condition NAME`. */
  readonly of: string
  readonly text: string
  readonly span: Span | undefined
}

/** How much of a model its tests cover. */
export interface ModelCoverage {
  readonly model: TestedModel
  readonly parts: number
  readonly gaps: readonly Gap[]
}

/** Percentage of covered parts, rounded down: 100 only when no part is missing. */
export function percentOf({ parts, gaps }: ModelCoverage): number {
  return parts === 0 ? 100 : Math.floor(((parts - gaps.length) / parts) * 100)
}

/** Suites by model. All files that test a model count together; a model without tests is not measured. */
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

/** A part is covered when removing it would change at least one answer. */
async function coverageOf(model: TestedModel, tests: readonly ModelTest[]): Promise<ModelCoverage> {
  const parts = partsOf(model.loaded.plan.model)
  /** Parts that no question has covered yet, with the model that lacks the part. */
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
