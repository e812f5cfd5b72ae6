import type { ModelPath } from "../../runtime/model/finding.ts"
import type { AuthorizationModel, Userset } from "../../runtime/plan/authorization-model.ts"
import { canonicalJson } from "../../runtime/plan/canonical.ts"
import type { Span } from "../core/source.ts"
import type { CompiledModel } from "./compile-model.ts"
import { usersetInOrder } from "./model-order.ts"

/** A part of a relation, by its path in the plan's model: `doc#viewer union.child.1`, or `doc#viewer direct.1` for a type in its list. */
export interface BranchPlace {
  readonly name: string
  readonly span: Span
}

/** Where the branches of relations, and the types in their lists, are written. None for models that are written as JSON. `ordered`: the model as plans have it. */
export function* branchPlaces(
  { model, placeOf }: CompiledModel,
  ordered: AuthorizationModel,
): Iterable<BranchPlace> {
  if (placeOf === undefined) return
  const byType = new Map(ordered.type_definitions.map((each) => [each.type, each]))
  for (const [at, { type, relations = {}, metadata }] of model.type_definitions.entries())
    for (const [relation, rewrite] of Object.entries(relations)) {
      const name = `${type}#${relation}`
      const other = byType.get(type)
      const planned = other?.relations?.[relation]
      if (planned === undefined) continue
      for (const { path, source } of branchPaths(planned, rewrite))
        yield {
          name: `${name} ${path.join(".")}`,
          span: placeOf(["type_definitions", at, "relations", relation, ...source]),
        }
      const list = ["type_definitions", at, "metadata", "relations", relation, "directly_related_user_types"]
      const written = metadata?.relations?.[relation]?.directly_related_user_types ?? []
      for (const [to, each] of (
        other?.metadata?.relations?.[relation]?.directly_related_user_types ?? []
      ).entries()) {
        const from = written.findIndex((listed) => canonicalJson(listed) === canonicalJson(each))
        if (from >= 0 && written.length > 1)
          yield { name: `${name} direct.${to}`, span: placeOf([...list, from]) }
      }
    }
}

/** All branches of a definition: their paths in the plan, and in the model as it is written. */
function branchPaths(planned: Userset, written: Userset): { path: ModelPath; source: ModelPath }[] {
  const inner = (to: Userset, from: Userset, path: ModelPath, source: ModelPath) => [
    { path, source },
    ...branchPaths(to, from).map((each) => ({
      path: [...path, ...each.path],
      source: [...source, ...each.source],
    })),
  ]
  const children = (operator: string, to: readonly Userset[], from: readonly Userset[]) => {
    const texts = from.map((each) => canonicalJson(usersetInOrder(each)))
    return to.flatMap((child, at) => {
      const text = canonicalJson(child)
      const other = texts.indexOf(text)
      const branch = from[other]
      if (branch === undefined) return []
      texts[other] = ""
      return inner(child, branch, [operator, "child", at], [operator, "child", other])
    })
  }
  if ("union" in planned && "union" in written)
    return children("union", planned.union.child, written.union.child)
  if ("intersection" in planned && "intersection" in written)
    return children("intersection", planned.intersection.child, written.intersection.child)
  if (!("difference" in planned && "difference" in written)) return []
  const [base, subtract] = [
    ["difference", "base"],
    ["difference", "subtract"],
  ] as const
  return [
    ...inner(planned.difference.base, written.difference.base, base, base),
    ...inner(planned.difference.subtract, written.difference.subtract, subtract, subtract),
  ]
}
