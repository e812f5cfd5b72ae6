import type { AuthorizationModel, Userset } from "../../runtime/plan/authorization-model.ts"

/** The relations as `type#relation` that can decide one of `asked`: those it is computed from, and theirs. */
export function relationsBehind(model: AuthorizationModel, asked: Iterable<string>): ReadonlySet<string> {
  const found = new Set<string>()
  const open = [...asked]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue
    found.add(name)
    const [type = "", relation = ""] = name.split("#")
    const definition = model.type_definitions.find((each) => each.type === type)
    const rewrite = definition?.relations?.[relation]
    if (rewrite !== undefined) open.push(...namesIn(rewrite, type, model))
    const types = definition?.metadata?.relations?.[relation]?.directly_related_user_types ?? []
    for (const each of types) if (each.relation) open.push(`${each.type}#${each.relation}`)
  }
  return found
}

function namesIn(rewrite: Userset, type: string, model: AuthorizationModel): string[] {
  if ("this" in rewrite) return []
  if ("computedUserset" in rewrite) return [`${type}#${rewrite.computedUserset.relation}`]
  if ("tupleToUserset" in rewrite) {
    const { tupleset, computedUserset } = rewrite.tupleToUserset
    // A tupleset names types, each of which may have the relation.
    const types = model.type_definitions.filter(
      ({ relations }) => relations?.[computedUserset.relation] !== undefined,
    )
    return [
      `${type}#${tupleset.relation}`,
      ...types.map((each) => `${each.type}#${computedUserset.relation}`),
    ]
  }
  if ("difference" in rewrite)
    return [
      ...namesIn(rewrite.difference.base, type, model),
      ...namesIn(rewrite.difference.subtract, type, model),
    ]
  const { child } = "union" in rewrite ? rewrite.union : rewrite.intersection
  return child.flatMap((each) => namesIn(each, type, model))
}
