import type { ModelPath } from "../../runtime/model/finding.ts"
import { type IndexedRelation, type ModelIndex, referenceText } from "../../runtime/model/model-index.ts"
import type { Userset } from "../../runtime/plan/authorization-model.ts"
import type { Containment } from "./containment.ts"
import type { Lint } from "./lint.ts"
import { operandText, rewriteText } from "./rewrite-text.ts"
import type { Subjects } from "./subjects.ts"

/** A part of a definition with an operator, and its place. */
interface Operation {
  readonly rewrite: Userset
  readonly path: ModelPath
  readonly relation: IndexedRelation
}

/** Finds operators whose operands change nothing, or whose result is always empty. */
export function lintOperators(index: ModelIndex, subjects: Subjects, containment: Containment): Lint[] {
  return index.relations.flatMap((relation) =>
    operationsIn(relation.rewrite, relation.path, relation).flatMap((operation) => {
      const { rewrite } = operation
      if ("difference" in rewrite) return lintExclusion(operation, rewrite.difference, subjects, containment)
      if ("union" in rewrite) return lintOperands(operation, rewrite.union.child, containment)
      if (!("intersection" in rewrite)) return []
      const { child } = rewrite.intersection
      return [...lintIntersection(operation, child, subjects), ...lintOperands(operation, child, containment)]
    }),
  )
}

/** All operations of a definition, with their paths in the JSON. */
function operationsIn(rewrite: Userset, path: ModelPath, relation: IndexedRelation): Operation[] {
  const own = { rewrite, path, relation }
  if ("difference" in rewrite) {
    const { base, subtract } = rewrite.difference
    return [
      own,
      ...operationsIn(base, [...path, "difference", "base"], relation),
      ...operationsIn(subtract, [...path, "difference", "subtract"], relation),
    ]
  }
  const [kind, child] =
    "union" in rewrite
      ? ["union", rewrite.union.child]
      : "intersection" in rewrite
        ? ["intersection", rewrite.intersection.child]
        : ["", []]
  if (child.length === 0) return []
  return [own, ...child.flatMap((each, at) => operationsIn(each, [...path, kind, "child", at], relation))]
}

/** An `and` of sides with different user types is always empty. */
function lintIntersection(
  { rewrite, path, relation }: Operation,
  child: readonly Userset[],
  subjects: Subjects,
): Lint[] {
  const sides = child.map((each) => subjects.ofPart(each, relation))
  if (sides.some((side) => side.size === 0) || subjects.ofPart(rewrite, relation).size > 0) return []
  const shown = sides.map((side) => `only ${kindsText(side)}`).join(", and ")
  const detail = `no user can be on all sides of \`and\` in \`${relation.name}\`: the sides contain ${shown}`
  return [{ code: "SP4041", path, detail }]
}

/** Finds an operand of `or` that another operand contains, and an operand of `and` that contains another. */
function lintOperands(
  { rewrite, path, relation }: Operation,
  child: readonly Userset[],
  containment: Containment,
): Lint[] {
  const isUnion = "union" in rewrite
  const parts = child.map((each) => ({ rewrite: each, relation }))
  const isNeedless = (at: number, other: number): boolean => {
    const [one, two] = [parts[at], parts[other]]
    if (one === undefined || two === undefined || at === other) return false
    if (!(isUnion ? containment.holds(one, two) : containment.holds(two, one))) return false
    // Of two equal operands, the later one is reported.
    return other < at || !(isUnion ? containment.holds(two, one) : containment.holds(one, two))
  }
  return child.flatMap((each, at): Lint[] => {
    const other = child.findIndex((_, index) => isNeedless(at, index))
    const reason = child[other]
    if (reason === undefined) return []
    const [own, known] = [textOf(each, relation), textOf(reason, relation)]
    const detail = isUnion
      ? `\`${own}\` adds no users to \`${relation.name}\`: all its users are in \`${known}\` too`
      : `\`${own}\` excludes no users from \`${relation.name}\`: all users in \`${known}\` have it`
    return [{ code: "SP4044", path: [...path, isUnion ? "union" : "intersection", "child", at], detail }]
  })
}

/** `but not` that removes everything, or nothing. */
function lintExclusion(
  { path, relation }: Operation,
  { base, subtract }: { base: Userset; subtract: Userset },
  subjects: Subjects,
  containment: Containment,
): Lint[] {
  const [from, taken] = [textOf(base, relation), textOf(subtract, relation, operandText)]
  if (containment.holds({ rewrite: base, relation }, { rewrite: subtract, relation })) {
    const detail = `\`but not ${taken}\` removes every user of \`${from}\``
    return [{ code: "SP4046", path, detail }]
  }
  const sides = [subjects.ofPart(base, relation), subjects.ofPart(subtract, relation)] as const
  if (sides.some((side) => side.size === 0) || [...sides[0]].some((each) => sides[1].has(each))) return []
  const [kept, lost] = sides.map(kindsText)
  const detail = `\`but not ${taken}\` removes no users: \`${from}\` contains ${kept}, \`${taken}\` contains ${lost}`
  return [{ code: "SP4045", path: [...path, "difference", "subtract"], detail }]
}

/** Types only: where a wildcard is allowed, its type is listed as well. */
function kindsText(kinds: ReadonlySet<string>): string {
  return [...kinds]
    .filter((kind) => !kind.endsWith(":*"))
    .map((kind) => `\`${kind}\``)
    .join(", ")
}

function textOf(rewrite: Userset, { references }: IndexedRelation, write = rewriteText): string {
  const list = references.length > 3 ? "[…]" : `[${references.map(referenceText).join(", ")}]`
  return write(rewrite, list) ?? "…"
}
