import type { AuthorizationModel, Userset } from "../../runtime/plan/authorization-model.ts"
import { same } from "../analysis/same.ts"

/** A path in the JSON of a relation's definition (`union.child.1`), or in its list of types (`direct.1`). Empty: the whole definition. */
type BranchPath = readonly (string | number)[]

/**
 * Where the definition of a relation differs in the new model, the narrowest place first: the branch or type that was added or changed; for a branch
 * that is gone, the expression that had it. None: the definitions are equal, or only one of the models has the relation.
 */
export function changedBranches(
  before: AuthorizationModel,
  after: AuthorizationModel,
  relation: string,
): string[] {
  const [old, next] = [definitionOf(before, relation), definitionOf(after, relation)]
  if (old === undefined || next === undefined) return []
  const paths: BranchPath[] = []
  if (!same(old.rewrite, next.rewrite)) paths.push(differing(old.rewrite, next.rewrite, []))
  else if (!same(old.direct, next.direct)) {
    const added = next.direct.findIndex((each) => !old.direct.some((other) => same(each, other)))
    if (added >= 0) paths.push(["direct", added])
    paths.push(ownTuples(next.rewrite, []) ?? [])
  }
  return paths.map((path) => path.join("."))
}

function definitionOf(model: AuthorizationModel, relation: string) {
  const [type, name = ""] = relation.split("#")
  const definition = model.type_definitions.find((each) => each.type === type)
  const rewrite = definition?.relations?.[name]
  if (rewrite === undefined) return undefined
  return { rewrite, direct: definition?.metadata?.relations?.[name]?.directly_related_user_types ?? [] }
}

/** The list of types in a definition. */
function ownTuples(rewrite: Userset, path: BranchPath): BranchPath | undefined {
  if ("this" in rewrite) return path
  for (const [inner, step] of branchesOf(rewrite)) {
    const found = ownTuples(inner, [...path, ...step])
    if (found !== undefined) return found
  }
  return undefined
}

function branchesOf(rewrite: Userset): (readonly [branch: Userset, step: BranchPath])[] {
  if ("union" in rewrite)
    return rewrite.union.child.map((child, at) => [child, ["union", "child", at]] as const)
  if ("intersection" in rewrite)
    return rewrite.intersection.child.map((child, at) => [child, ["intersection", "child", at]] as const)
  if (!("difference" in rewrite)) return []
  const { base, subtract } = rewrite.difference
  return [
    [base, ["difference", "base"]],
    [subtract, ["difference", "subtract"]],
  ]
}

function differing(old: Userset, next: Userset, path: BranchPath): BranchPath {
  const [was, is] = [branchesOf(old), branchesOf(next)]
  const [operator] = Object.keys(next)
  if (operator === "difference" && operator in old) {
    const at = was.findIndex(([branch], index) => !same(branch, is[index]?.[0]))
    return within(was[at]?.[0], is[at], path)
  }
  // One branch became several, which are joined by an operator.
  if (is.length > 0 && !((operator as string) in old)) {
    const added = is.find(([branch]) => !same(branch, old))
    return is.some(([branch]) => same(branch, old)) && added !== undefined ? [...path, ...added[1]] : path
  }
  const gone = was.filter(([branch]) => !is.some(([other]) => same(branch, other)))
  const come = is.filter(([branch]) => !was.some(([other]) => same(branch, other)))
  if (come.length > 0) return within(gone.length === come.length ? gone[0]?.[0] : undefined, come[0], path)
  return path
}

/** The place of a branch, or of a part of it where it replaces another one. */
function within(
  old: Userset | undefined,
  next: readonly [branch: Userset, step: BranchPath] | undefined,
  path: BranchPath,
): BranchPath {
  if (next === undefined) return path
  const here = [...path, ...next[1]]
  return old === undefined ? here : differing(old, next[0], here)
}
