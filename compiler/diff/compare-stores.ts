import type { PlanBody } from "../../runtime/plan/plan.ts"
import { isRelation } from "../../runtime/plan/steps.ts"
import { breaking, neutral } from "../analysis/finding.ts"
import { ownOf, pairsOf } from "../analysis/same.ts"
import { compareModels, compiledOtherwise } from "./compare-models.ts"
import { compareMoves } from "./compare-moves.ts"
import { Dependants } from "./dependants.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"
import { Uses } from "./uses.ts"

/** Stores and their models. */
export function compareStores(before: PlanBody, after: PlanBody): UnplacedChange[] {
  const stores = ({ authz }: PlanBody) => authz?.stores ?? {}
  const uses = new Uses(after)
  return pairsOf(stores(before), stores(after)).flatMap(({ key: name, old, next }) => {
    const about = {
      subject: { kind: "store", name },
      scope: { kind: "store", name },
      path: `authz.stores.${name}`,
    } as const
    const is = next === undefined ? undefined : ownOf(after.models, next.model)
    if (old === undefined)
      return [
        ...(is === undefined ? [] : compiledOtherwise({ store: name, path: about.path }, is)),
        changeOf(
          { ...about, action: "added", after: `store ${name}` },
          neutral("the store starts without tuples"),
        ),
      ]
    if (next === undefined)
      return [
        changeOf(
          { ...about, action: "removed", before: `store ${name}` },
          breaking("it can no longer be used; its tuples stay in the database"),
        ),
      ]
    const was = ownOf(before.models, old.model)
    if (was === undefined || is === undefined) return []
    const dependants = new Dependants(is)
    const routes = askers(name, dependants, uses)
    return [
      ...compareMoves({ store: name, path: about.path }, old.moves ?? [], next.moves ?? []),
      ...compareModels({ store: name, path: about.path, routes, dependants }, was, is),
    ]
  })
}

/** Routes whose `require` depends on a relation, directly or through other relations. */
function askers(
  store: string,
  dependants: Dependants,
  uses: Uses,
): (type: string, relation: string) => readonly string[] {
  return (type, relation) => {
    const { along, against } = dependants.of(`${type}#${relation}`)
    return uses.routes((step) => {
      if (!isRelation(step) || step.store !== store) return false
      const [first] = typeof step.object === "string" ? [step.object] : step.object.text
      const objectType = typeof first === "string" ? first.split(":", 1)[0] : undefined
      const asked = `${objectType}#${step.relation}`
      return asked === `${type}#${relation}` || along.has(asked) || against.has(asked)
    })
  }
}
