import { lowerModel } from "../../runtime/model/lower.ts"
import { namesOf, pairOf } from "../../runtime/model/model-pair.ts"
import type { AuthorizationModel } from "../../runtime/plan/authorization-model.ts"
import {
  type CompareBounds,
  comparedRelations,
  compareRelation,
  type RelationMeaning,
  setExamples,
} from "./compare-relations.ts"
import { Confirmation } from "./confirm.ts"

/** What changes between two models. Output for programs: new versions may add fields. */
export interface ModelComparison {
  /** Relations that only the new model has. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** Relations of both models that are decided in another way. */
  readonly relations: readonly RelationMeaning[]
}

/** Compares two valid models, with examples that the engine has confirmed. It takes up to seconds for large models: `bounds` limits each relation. */
export async function compareModels(
  old: AuthorizationModel,
  next: AuthorizationModel,
  bounds: CompareBounds = {},
): Promise<ModelComparison> {
  const [before, after] = [lowerModel(old), lowerModel(next)]
  const confirmation = new Confirmation(before, after)
  const relations: RelationMeaning[] = []
  const pair = pairOf(before, after)
  const [was, is] = [namesOf(before.relations), namesOf(after.relations)]
  for (const relation of comparedRelations(pair)) {
    const found = compareRelation(pair, relation, bounds)
    // Without users who could have it, it may still differ for sets.
    const meaning = await confirmation.meaning(found ?? { relation, verdict: "same", shown: "proved" })
    const complete = await confirmation.withSets(meaning, setExamples(pair, relation, bounds))
    if (found !== undefined || complete.verdict !== "same") relations.push(complete)
  }
  return {
    added: [...is.keys()].filter((name) => !was.has(name)),
    removed: [...was.keys()].filter((name) => !is.has(name)),
    relations,
  }
}
