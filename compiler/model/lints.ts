import type { ModelPath } from "../../runtime/model/finding.ts"
import { indexModel, type ModelIndex, nothingBroken } from "../../runtime/model/model-index.ts"
import type { AuthorizationModel } from "../../runtime/plan/authorization-model.ts"
import { Containment, voidExclusions } from "./containment.ts"
import type { Lint } from "./lint.ts"
import { lintOperators } from "./lint-operators.ts"
import { lintPublicWrites } from "./lint-public-writes.ts"
import { Subjects } from "./subjects.ts"

/**
 * Finds probable mistakes in a model without errors: unused types and conditions, relations that no subject can have, operands that change
 * nothing, and write relations open to all users. Each finding holds for any tuples. Anything that cannot be proved within a budget is not
 * reported.
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

/** A model with a single type is not reported: it is probably unfinished. */
function unusedTypes(model: AuthorizationModel, index: ModelIndex): Lint[] {
  const used = new Set(index.relations.flatMap(({ references }) => references.map(({ type }) => type)))
  if (used.size === 0) return []
  return model.type_definitions.flatMap(({ type, relations }, at): Lint[] => {
    if (relations !== undefined || used.has(type)) return []
    const detail = `the type \`${type}\` has no relations, and no relation lists it`
    return [{ code: "SP4040", path: ["type_definitions", at, "type"], detail }]
  })
}

/** In text this is an error, as in OpenFGA. Only a model given as JSON can have unused conditions. */
function unusedConditions(model: AuthorizationModel, index: ModelIndex): Lint[] {
  const used = new Set(
    index.relations.flatMap(({ references }) => references.map(({ condition }) => condition)),
  )
  return Object.keys(model.conditions ?? {}).flatMap((name): Lint[] => {
    const detail = `no relation uses the condition \`${name}\``
    return used.has(name) ? [] : [{ code: "SP4047", path: ["conditions", name], detail }]
  })
}

/** Relations that are empty because others are. Relations whose own definition is the cause were reported before. */
function emptyRelations(index: ModelIndex, subjects: Subjects, said: readonly Lint[]): Lint[] {
  const roots = new Set(said.map(({ path }) => pathKey(path.slice(0, 4))))
  return index.relations.flatMap((relation): Lint[] => {
    if (subjects.of(relation).size > 0 || roots.has(pathKey(relation.path))) return []
    const empty = subjects
      .readBy(relation)
      .filter((each) => each !== relation && subjects.of(each).size === 0)
    const names = [...new Set(empty.map((each) => `\`${each.type}#${each.name}\``))]
    const why = names.length === 0 ? "" : `; the same is true of ${names.join(", ")}`
    const related = empty.map(({ path, name }) => ({ path, message: `\`${name}\` is defined here` }))
    const detail = `no user can have \`${relation.name}\` of a \`${relation.type}\`${why}`
    return [{ code: "SP4043", path: relation.path, detail, related }]
  })
}

function pathKey(path: ModelPath): string {
  return JSON.stringify(path)
}
