import type { TupleKey } from "../../../runtime/check/ports.ts"
import { validateModel } from "../../../runtime/model/validate.ts"
import type { AuthorizationModel, Userset } from "../../../runtime/plan/authorization-model.ts"
import type { Random } from "../../naive/random.ts"
import { type RandomWorld, randomTuple, randomWorld } from "../../naive/worlds.ts"

/**
 * A random world whose model a server takes: relations that may be assigned have restrictions, others none; tuplesets are
 * plain; what is still refused is drawn again.
 */
export function validWorld(random: Random): RandomWorld {
  for (;;) {
    const world = randomWorld(random)
    const model = mended(random, world.model)
    if (validateModel(model).length > 0) continue
    const tuples = new Map<string, TupleKey>()
    for (let at = 8 + random.below(50); at > 0; at -= 1) {
      const tuple = randomTuple(random, model, world.objects)
      if (tuple !== undefined) tuples.set(`${tuple.object}#${tuple.relation}@${tuple.user}`, tuple)
    }
    return { ...world, model, tuples: [...tuples.values()] }
  }
}

function mended(random: Random, model: AuthorizationModel): AuthorizationModel {
  return {
    ...model,
    type_definitions: model.type_definitions.map((definition) => {
      const restrictions = { ...definition.metadata?.relations }
      for (const [relation, rewrite] of Object.entries(definition.relations ?? {})) {
        const own = restrictions[relation]?.directly_related_user_types ?? []
        if (!isAssignable(rewrite)) restrictions[relation] = { directly_related_user_types: [] }
        else if (own.length === 0)
          restrictions[relation] = {
            directly_related_user_types: [
              { type: relation === "parent" ? random.pick(["group", "folder", "doc"]) : "user" },
            ],
          }
      }
      return definition.relations === undefined
        ? definition
        : { ...definition, metadata: { relations: restrictions } }
    }),
  }
}

function isAssignable(rewrite: Userset): boolean {
  if ("this" in rewrite) return true
  if ("union" in rewrite) return rewrite.union.child.some(isAssignable)
  if ("intersection" in rewrite) return rewrite.intersection.child.some(isAssignable)
  if ("difference" in rewrite)
    return isAssignable(rewrite.difference.base) || isAssignable(rewrite.difference.subtract)
  return false
}
