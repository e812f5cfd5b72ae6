import type { AuthorizationModel } from "../../runtime/plan/authorization-model.ts"
import type { Random } from "../naive/random.ts"

/** The model with one relation, or its restrictions, of another random model. */
export function withAnother(
  model: AuthorizationModel,
  other: AuthorizationModel,
  random: Random,
): AuthorizationModel {
  const next = structuredClone(model)
  const hosts = next.type_definitions.filter(({ relations }) => relations !== undefined)
  const type = random.pick(hosts)
  const relation = random.pick(["a", "b", "c", "d"])
  const donor = other.type_definitions.find((each) => each.type === type.type)
  const from = random.pick(["a", "b", "c", "d"])
  if (random.chance(60) && donor?.relations?.[from] !== undefined && type.relations !== undefined)
    type.relations[relation] = donor.relations[from]
  else {
    const listed = type.metadata?.relations?.[relation]
    if (listed !== undefined)
      listed.directly_related_user_types = random.chance(50)
        ? (donor?.metadata?.relations?.[from]?.directly_related_user_types ?? [])
        : (listed.directly_related_user_types ?? []).filter(() => random.chance(60))
  }
  return next
}
