import { lowerModel } from "../../runtime/model/lower.ts"
import type { AuthorizationModel, ModelPlan, TypeDefinition } from "../../runtime/plan/authorization-model.ts"
import { breaking, closes, type Finding, neutral, opens } from "../analysis/finding.ts"
import { pairsOf, same } from "../analysis/same.ts"
import { listWords } from "../analysis/words.ts"
import { ConditionUsers, conditionChanges } from "./compare-conditions.ts"
import { DecidedTheSame } from "./decided-the-same.ts"
import type { Dependants } from "./dependants.ts"
import { type Relation, relationWords } from "./model-words.ts"
import { relationChanges } from "./relation-changes.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

/** The context of a model: the store, its path in the plan, and the routes that depend on a relation (`order#viewer`). */
export interface ModelPlace {
  readonly store: string
  readonly path: string
  routes(type: string, relation: string): readonly string[]
  /** Dependencies in the new model. */
  readonly dependants: Dependants
}

/**
 * What a change of the model means for the answers of a store. Never empty for different models: even a change without effect is reported.
 */
export function compareModels(place: ModelPlace, before: ModelPlan, after: ModelPlan): UnplacedChange[] {
  if (same(before, after)) return []
  // Decides equivalence by the meaning of both definitions; only what it cannot decide is compared by text.
  const answers = new DecidedTheSame(before, after)
  const users = new ConditionUsers(after.model, place.dependants)
  const found = [
    ...pairsOf(typesOf(before.model), typesOf(after.model)).flatMap(({ key, old, next }) =>
      compareTypes(place, answers, key, old, next),
    ),
    ...pairsOf(before.model.conditions ?? {}, after.model.conditions ?? {}).flatMap(({ key, old, next }) =>
      conditionChanges(place, users.excludedIn(key), key, old, next),
    ),
  ]
  if (before.model.schema_version !== after.model.schema_version) {
    const words = ({ schema_version }: AuthorizationModel) => `schema ${schema_version}`
    found.push(
      changeOf(
        { ...aboutModel(place, "changed"), before: words(before.model), after: words(after.model) },
        neutral("all decisions stay the same"),
      ),
    )
  }
  found.push(...compiledOtherwise(place, after))
  // Silence would say that nothing changed, although the store gets a new model with a new id.
  if (found.length === 0 && !same(before, after))
    found.push(
      changeOf(
        aboutModel(place, "changed"),
        neutral(
          same(before.model, after.model)
            ? "it is compiled in another way"
            : "it is written differently, and all decisions stay the same; the store gets a new model id",
        ),
      ),
    )
  return found
}

/** The relation plans decide, not the model's text. If they do not match the text, another version compiled the plan, or it was edited. */
export function compiledOtherwise(
  place: Pick<ModelPlace, "store" | "path">,
  { model, relations }: ModelPlan,
): UnplacedChange[] {
  // Lowering again is cheap, and a plan that was edited by hand must not pass as unchanged.
  if (same(lowerModel(model).relations, relations)) return []
  return [
    changeOf(
      aboutModel(place, "changed"),
      opens("the compiled model does not match its text in this version: make the plan again and compare"),
    ),
  ]
}

function aboutModel({ store, path }: Pick<ModelPlace, "store" | "path">, action: UnplacedChange["action"]) {
  return {
    action,
    subject: { kind: "model", name: store },
    scope: { kind: "store", name: store },
    path,
  } as const
}

function typesOf(model: AuthorizationModel): Record<string, TypeDefinition> {
  return Object.fromEntries(model.type_definitions.map((definition) => [definition.type, definition]))
}

/** A type. Its relations are compared separately, because their changes have different effects. */
function compareTypes(
  place: ModelPlace,
  answers: DecidedTheSame,
  name: string,
  old: TypeDefinition | undefined,
  next: TypeDefinition | undefined,
): UnplacedChange[] {
  const about = {
    subject: { kind: "type", name },
    scope: { kind: "store", name: place.store },
    path: place.path,
  } as const
  if (old === undefined)
    return [
      changeOf(
        { ...about, action: "added", after: `type ${name}` },
        neutral("it has no effect until tuples are written for its objects"),
      ),
    ]
  if (next === undefined)
    return [
      changeOf(
        { ...about, action: "removed", before: `type ${name}` },
        breaking(
          `checks of this type fail with an error, and stored tuples of \`${name}:…\` will be ignored`,
        ),
      ),
    ]
  return pairsOf(relationsOf(old), relationsOf(next)).flatMap(({ key, old, next }) =>
    compareRelations(place, answers, name, key, old, next),
  )
}

/** Definitions and types of a model's relations, joined by name. */
function relationsOf({ relations = {}, metadata }: TypeDefinition): Record<string, Relation> {
  const direct = new Map(Object.entries(metadata?.relations ?? {}))
  return Object.fromEntries(
    Object.entries(relations).map(([name, rewrite]) => [
      name,
      { rewrite, direct: direct.get(name)?.directly_related_user_types ?? [] },
    ]),
  )
}

/** A relation. Whether users gain or lose it is decided from both definitions. */
function compareRelations(
  place: ModelPlace,
  answers: DecidedTheSame,
  type: string,
  name: string,
  old: Relation | undefined,
  next: Relation | undefined,
): UnplacedChange[] {
  const about = {
    subject: { kind: "relation", name: `${type}#${name}` },
    scope: { kind: "store", name: place.store },
    path: place.path,
    before: old === undefined ? undefined : relationWords(name, old),
    after: next === undefined ? undefined : relationWords(name, next),
  } as const
  if (old === undefined)
    // A relation that another one refers to changes that other relation, too: it is reported there.
    return [changeOf({ ...about, action: "added" }, neutral("no existing relation depends on it"))]
  if (next === undefined) {
    const tuples =
      old.direct.length === 0 ? "" : `, and stored tuples of \`… ${name} ${type}:…\` will be ignored`
    return [
      changeOf(
        { ...about, action: "removed" },
        breaking(`checks of this relation fail with an error${tuples}`),
      ),
    ]
  }
  const changes = relationChanges(`${type}#${name}`, old, next)
  if (changes.length === 0) return []
  const findings = answers.left(type, name, old, next, changes)
  findings.push(...turnedAround(findings, place.dependants.of(`${type}#${name}`).against))
  return [changeOf({ ...about, action: "changed", routes: place.routes(type, name) }, findings)]
}

/** For a relation that excludes this one, the effect is reversed: a user who loses this relation may gain that one. */
function turnedAround(findings: readonly Finding[], against: ReadonlySet<string>): Finding[] {
  if (against.size === 0) return []
  const names = listWords([...against].sort().map((name) => `\`${name}\``))
  const loses = findings.some(({ risk }) => risk === "closes" || risk === "breaking")
  const gains = findings.some(({ risk }) => risk === "opens")
  return [
    ...(loses ? [opens(`it is excluded in ${names}: users who lose this relation may gain the others`)] : []),
    ...(gains ? [closes(`it is excluded in ${names}: users who get this relation may lose the others`)] : []),
  ]
}
