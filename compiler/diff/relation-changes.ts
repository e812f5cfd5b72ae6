import type { RelationReference, Userset } from "../../runtime/plan/authorization-model.ts"
import { canonicalJson } from "../../runtime/plan/canonical.ts"
import { breaking, closes, type Finding, opens } from "./finding.ts"
import { type Relation, rewriteWords, subjectWords } from "./model-words.ts"
import { byText, listChanges, same } from "./same.ts"
import { listWords } from "./words.ts"

/** What becomes of the answers about a relation, and of its tuples. Nothing where only the order of parts is another. */
export function relationChanges(name: string, before: Relation, after: Relation): Finding[] {
  return [...directChanges(name, before, after), ...rewriteChanges(before.rewrite, after.rewrite)]
}

/** Tuples are stored under any model; those that fit no restriction of the one that is asked are passed over. */
function directChanges(name: string, before: Relation, after: Relation): Finding[] {
  const { removed, added } = listChanges(taken(before), taken(after))
  const findings: Finding[] = []
  if (removed.length > 0)
    findings.push(
      breaking(
        `stored tuples of the shape ${listWords(removed.map((each) => `\`${shape(name, each)}\``))} will be ignored`,
      ),
    )
  for (const each of added) {
    const condition = each.condition === undefined ? "" : `, where \`${each.condition}\` holds`
    findings.push(
      each.wildcard === undefined
        ? opens(`it can be given to \`${subjectWords(each)}\`${condition}`)
        : opens(`one tuple can give it to every \`${each.type}\`${condition}`),
    )
  }
  return findings
}

/** Restrictions count only where the relation takes subjects directly. */
function taken({ rewrite, direct }: Relation): readonly RelationReference[] {
  return takesDirectly(rewrite) ? direct : []
}

function takesDirectly(rewrite: Userset): boolean {
  if ("this" in rewrite) return true
  if ("union" in rewrite) return rewrite.union.child.some(takesDirectly)
  if ("intersection" in rewrite) return rewrite.intersection.child.some(takesDirectly)
  if ("difference" in rewrite)
    return takesDirectly(rewrite.difference.base) || takesDirectly(rewrite.difference.subtract)
  return false
}

/** `user:* viewer order:…`, in the order tuples are written. */
function shape(name: string, reference: RelationReference): string {
  const [type, relation] = name.split("#")
  const subject = subjectWords(reference)
  const user =
    reference.wildcard !== undefined ? subject : subject.replace(reference.type, `${reference.type}:…`)
  const condition = reference.condition === undefined ? " without condition" : ` with ${reference.condition}`
  return `${user} ${relation} ${type}:…${condition}`
}

/** Another way to have it opens, another demand closes; what is neither is called opening: somebody has to look. */
function rewriteChanges(before: Userset, after: Userset): Finding[] {
  const [old, next] = [inOrder(before), inOrder(after)]
  if (same(old, next)) return []
  if ("difference" in old && "difference" in next) {
    const base = rewriteChanges(old.difference.base, next.difference.base)
    return [...base, ...takenAway(old.difference.subtract, next.difference.subtract)]
  }
  if ("difference" in next && same(next.difference.base, old))
    return [closes(`who is \`${words(next.difference.subtract)}\` does not have it any more`)]
  if ("difference" in old && same(old.difference.base, next))
    return [opens(`who is \`${words(old.difference.subtract)}\` has it too`)]
  if ("intersection" in old || "intersection" in next) return intersectionChanges(old, next)
  return unionChanges(old, next)
}

function unionChanges(old: Userset, next: Userset): Finding[] {
  const { removed, added } = listChanges(partsOf(old, "union"), partsOf(next, "union"))
  const [gone] = removed
  const [come] = added
  if (removed.length === 1 && added.length === 1 && gone !== undefined && come !== undefined) {
    if (
      isDirect(gone) === isDirect(come) &&
      hasOperator(gone) &&
      hasOperator(come) &&
      operator(gone) !== "union"
    )
      return rewriteChanges(gone, come)
    if ("difference" in come && same(come.difference.base, gone)) return rewriteChanges(gone, come)
    if (sharesDemand(gone, come)) return intersectionChanges(gone, come)
    if ("difference" in gone && same(gone.difference.base, come)) return rewriteChanges(gone, come)
  }
  // A direct part that comes or goes is told by its restrictions.
  return [
    ...added.filter((part) => !isDirect(part)).map((part) => opens(`who is \`${words(part)}\` has it too`)),
    ...removed
      .filter((part) => !isDirect(part))
      .map((part) => closes(`who is only \`${words(part)}\` does not have it any more`)),
  ]
}

/** Whether one of two parts demands what the other does, and more. */
function sharesDemand(old: Userset, next: Userset): boolean {
  const { removed, added } = listChanges(partsOf(old, "intersection"), partsOf(next, "intersection"))
  return removed.length === 0 || added.length === 0
}

function intersectionChanges(old: Userset, next: Userset): Finding[] {
  const { removed, added } = listChanges(partsOf(old, "intersection"), partsOf(next, "intersection"))
  const list = (parts: readonly Userset[]) => listWords(parts.map((part) => `\`${words(part)}\``))
  if (removed.length === 0) return [closes(`it demands ${list(added)} too`)]
  if (added.length === 0) return [opens(`it does not demand ${list(removed)} any more`)]
  const [gone] = removed
  const [come] = added
  if (removed.length === 1 && added.length === 1 && gone !== undefined && come !== undefined) {
    if (!("intersection" in gone) && !("intersection" in come)) {
      const inside = rewriteChanges(gone, come)
      if (inside.length > 0) return inside
    }
  }
  return [opens(`it demands ${list(added)}, and not ${list(removed)} any more`)]
}

/** Who is taken away more has it less. */
function takenAway(old: Userset, next: Userset): Finding[] {
  if (same(old, next)) return []
  if (
    operator(old) !== "intersection" &&
    operator(next) !== "intersection" &&
    operator(old) !== "difference"
  ) {
    const { removed, added } = listChanges(partsOf(old, "union"), partsOf(next, "union"))
    return [
      ...added.map((part) => closes(`who is \`${words(part)}\` does not have it any more`)),
      ...removed.map((part) => opens(`who is \`${words(part)}\` may have it too`)),
    ]
  }
  return rewriteChanges(old, next).map(({ risk, why }) => {
    const turned = risk === "opens" ? "closes" : risk === "closes" ? "opens" : risk
    return { risk: turned, why: `in what is taken away: ${why}` }
  })
}

function words(part: Userset): string {
  return rewriteWords(part, [])
}

function isDirect(part: Userset): boolean {
  return "this" in part
}

function hasOperator(part: Userset): boolean {
  return operator(part) !== undefined
}

function operator(part: Userset): "union" | "intersection" | "difference" | undefined {
  return (["union", "intersection", "difference"] as const).find((name) => name in part)
}

function partsOf(rewrite: Userset, kind: "union" | "intersection"): readonly Userset[] {
  if (kind === "union" && "union" in rewrite) return rewrite.union.child
  if (kind === "intersection" && "intersection" in rewrite) return rewrite.intersection.child
  return [rewrite]
}

/** The order of a union's or intersection's parts means nothing, nor do parentheses in a chain of one operator. */
function inOrder(rewrite: Userset): Userset {
  if ("union" in rewrite) return { union: { child: sorted(rewrite.union.child.map(inOrder), "union") } }
  if ("intersection" in rewrite)
    return { intersection: { child: sorted(rewrite.intersection.child.map(inOrder), "intersection") } }
  if (!("difference" in rewrite)) return rewrite
  return {
    difference: { base: inOrder(rewrite.difference.base), subtract: inOrder(rewrite.difference.subtract) },
  }
}

function sorted(parts: readonly Userset[], kind: "union" | "intersection"): Userset[] {
  const keyed = new Map(
    parts.flatMap((part) => partsOf(part, kind)).map((part) => [canonicalJson(part), part]),
  )
  return [...keyed].sort(([a], [b]) => byText(a, b)).map(([, part]) => part)
}
