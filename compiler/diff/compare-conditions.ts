import { type ConditionComparison, compareConditions } from "../../runtime/expression/condition-change.ts"
import { compareTests } from "../../runtime/expression/same-outcome.ts"
import type { AuthorizationModel, Condition } from "../../runtime/plan/authorization-model.ts"
import { breaking, closes, type Finding, neutral, opens } from "../analysis/finding.ts"
import { listChanges, same } from "../analysis/same.ts"
import { listWords } from "../analysis/words.ts"
import type { Dependants } from "./dependants.ts"
import { conditionWords } from "./model-words.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

/** The relations of a model whose tuples may have a condition. */
export class ConditionUsers {
  readonly #model: AuthorizationModel
  readonly #dependants: Dependants

  constructor(model: AuthorizationModel, dependants: Dependants) {
    this.#model = model
    this.#dependants = dependants
  }

  /** The relations in which users are excluded by tuples with the condition. */
  excludedIn(condition: string): ReadonlySet<string> {
    const found = new Set<string>()
    for (const { type, relations = {}, metadata } of this.#model.type_definitions)
      for (const [relation, { directly_related_user_types: direct = [] }] of Object.entries(
        metadata?.relations ?? {},
      )) {
        if (!direct.some((each) => each.condition === condition)) continue
        const name = `${type}#${relation}`
        // Its own tuples may stand behind its `but not`.
        if (JSON.stringify(relations[relation] ?? {}).includes('"difference"')) found.add(name)
        for (const each of this.#dependants.of(name).against) found.add(each)
      }
    return found
  }
}

/** A condition. Stored tuples name it, so removing it makes them ineffective. `excludedIn`: the relations from which its tuples exclude users. */
export function conditionChanges(
  place: { readonly store: string; readonly path: string },
  excludedIn: ReadonlySet<string>,
  name: string,
  old: Condition | undefined,
  next: Condition | undefined,
): UnplacedChange[] {
  const about = {
    subject: { kind: "condition", name },
    scope: { kind: "store", name: place.store },
    path: place.path,
    before: old === undefined ? undefined : conditionWords(old),
    after: next === undefined ? undefined : conditionWords(next),
  } as const
  if (old === undefined)
    return [changeOf({ ...about, action: "added" }, neutral("no stored tuple uses it yet"))]
  if (next === undefined)
    return [
      changeOf({ ...about, action: "removed" }, breaking(`stored tuples \`with ${name}\` will be ignored`)),
    ]
  const findings: Finding[] = []
  const isRetyped = !same(old.parameters ?? {}, next.parameters ?? {})
  if (old.expression !== next.expression)
    findings.push(...expressionChanges(old, next, isRetyped, excludedIn))
  if (isRetyped) findings.push(parameterChanges(old, next))
  return findings.length === 0 ? [] : [changeOf({ ...about, action: "changed" }, findings)]
}

/** What another expression means. Only a proof of equivalence is neutral; where nothing is proved, tuples may count on either side. */
function expressionChanges(
  old: Condition,
  next: Condition,
  isRetyped: boolean,
  excludedIn: ReadonlySet<string>,
): Finding[] {
  const { relation, onlyOld, onlyNew }: ConditionComparison = isRetyped
    ? { relation: compareTests(old.expression, next.expression, true) === "same" ? "same" : "other" }
    : compareConditions(old, next)
  const example = (context: Readonly<Record<string, unknown>> | undefined) =>
    context === undefined ? "" : `, for example with \`${JSON.stringify(context)}\``
  const names = listWords([...excludedIn].sort().map((each) => `\`${each}\``))
  switch (relation) {
    case "same":
      return [neutral("the condition is written differently but means the same")]
    case "narrower":
      return [
        closes(`tuples with this condition count in fewer cases than before${example(onlyOld)}`),
        ...(names === "" ? [] : [opens(`they exclude users from ${names}, who may gain it`)]),
      ]
    case "wider":
      return [
        opens(`tuples with this condition count in more cases than before${example(onlyNew)}`),
        ...(names === "" ? [] : [closes(`they exclude users from ${names}, who may lose it`)]),
      ]
    default:
      return [opens("tuples with this condition may now count where they did not, and the other way round")]
  }
}

/** Parameters of a condition. Stored contexts have values for the old ones. */
function parameterChanges(old: Condition, next: Condition): Finding {
  const names = ({ parameters = {} }: Condition) => Object.keys(parameters)
  const { removed, added } = listChanges(names(old), names(next))
  const retyped = names(next).filter(
    (name) => names(old).includes(name) && !same(old.parameters?.[name], next.parameters?.[name]),
  )
  const parts = [
    ...(added.length === 0
      ? []
      : [`the tuple or the check must now provide ${listWords(added.map((name) => `\`${name}\``))}`]),
    ...(removed.length === 0
      ? []
      : [`${listWords(removed.map((name) => `\`${name}\``))} in stored tuples is no longer a parameter`]),
    ...(retyped.length === 0
      ? []
      : [
          `the parameter ${listWords(retyped.map((name) => `\`${name}\``))} has another type, so values in stored tuples may be invalid`,
        ]),
  ]
  return breaking(parts.join("; "))
}
