import type { ModelPath } from "../../runtime/model/finding.ts"
import { indexModel, type ModelIndex, nothingBroken } from "../../runtime/model/model-index.ts"
import type { AuthorizationModel } from "../../runtime/plan/authorization-model.ts"
import { Containment, voidExclusions } from "./containment.ts"
import type { Lint } from "./lint.ts"
import { lintOperators } from "./lint-operators.ts"
import { lintPublicWrites } from "./lint-public-writes.ts"
import { Subjects } from "./subjects.ts"

/**
 * Looks for what is hardly meant in a model without errors: types and conditions that nothing uses, relations nobody can have, operands that change
 * nothing, writing that is open to everybody. What is found is so for all tuples; what can't be shown within a budget is passed over.
 */
export function lintModel(model: AuthorizationModel): Lint[] {
  const index = indexModel(model, nothingBroken)
  const containment = new Containment(index)
  const subjects = new Subjects(index, { isVoid: voidExclusions(containment) })
  const ofOperators = lintOperators(index, subjects, containment)
  return [
    ...unusedTypes(model, index),
    ...unusedConditions(model, index),
    ...ofOperators,
    ...emptyRelations(index, subjects, ofOperators),
    ...lintPublicWrites(index, subjects),
  ]
}

/** A model of one type only is a beginning, not a mistake. */
function unusedTypes(model: AuthorizationModel, index: ModelIndex): Lint[] {
  const used = new Set(index.relations.flatMap(({ references }) => references.map(({ type }) => type)))
  if (used.size === 0) return []
  return model.type_definitions.flatMap(({ type, relations }, at): Lint[] => {
    if (relations !== undefined || used.has(type)) return []
    const detail = `the type \`${type}\` has no relations, and no relation lists it`
    return [{ code: "SP4040", path: ["type_definitions", at, "type"], detail }]
  })
}

/** In text this is an error, as in OpenFGA; a model given as JSON may have them. */
function unusedConditions(model: AuthorizationModel, index: ModelIndex): Lint[] {
  const used = new Set(
    index.relations.flatMap(({ references }) => references.map(({ condition }) => condition)),
  )
  return Object.keys(model.conditions ?? {}).flatMap((name): Lint[] => {
    const detail = `no relation names the condition \`${name}\``
    return used.has(name) ? [] : [{ code: "SP4047", path: ["conditions", name], detail }]
  })
}

/** Relations that are empty because others are. Where the reason is in the definition itself, that was said. */
function emptyRelations(index: ModelIndex, subjects: Subjects, said: readonly Lint[]): Lint[] {
  const roots = new Set(said.map(({ path }) => pathKey(path.slice(0, 4))))
  return index.relations.flatMap((relation): Lint[] => {
    if (subjects.of(relation).size > 0 || roots.has(pathKey(relation.path))) return []
    const empty = subjects
      .readBy(relation)
      .filter((each) => each !== relation && subjects.of(each).size === 0)
    const names = [...new Set(empty.map((each) => `\`${each.type}#${each.name}\``))]
    const why = names.length === 0 ? "" : `: so it is with ${names.join(", ")}`
    const related = empty.map(({ path, name }) => ({ path, message: `\`${name}\` is defined here` }))
    const detail = `no user can have \`${relation.name}\` of a \`${relation.type}\`${why}`
    return [{ code: "SP4043", path: relation.path, detail, related }]
  })
}

function pathKey(path: ModelPath): string {
  return JSON.stringify(path)
}
