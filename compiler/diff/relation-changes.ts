import type { RelationReference, Userset } from "../../runtime/plan/authorization-model.ts"
import { canonicalJson } from "../../runtime/plan/canonical.ts"
import { breaking, closes, type Finding, opens } from "../analysis/finding.ts"
import { byText, listChanges, same } from "../analysis/same.ts"
import { listWords } from "../analysis/words.ts"
import { type Relation, rewriteWords, subjectWords } from "./model-words.ts"

/** What a change of a relation means for its answers and tuples. Empty if only the order of parts changed. */
export function relationChanges(name: string, before: Relation, after: Relation): Finding[] {
  return [...directChanges(name, before, after), ...new RewriteComparison(before, after).findings()]
}

/** Any model accepts existing tuples, but ignores those that match no type restriction. */
function directChanges(name: string, before: Relation, after: Relation): Finding[] {
  const [was, is] = [sidesOf(before.rewrite), sidesOf(after.rewrite)]
  if (!was.along && !was.against) return []
  const taken = is.along || is.against ? after.direct : []
  const { removed, added } = listChanges(before.direct, taken)
  const findings: Finding[] = []
  if (removed.length > 0) {
    const shapes = listWords(removed.map((each) => `\`${shape(name, each)}\``))
    findings.push(breaking(`stored tuples of the shape ${shapes} will be ignored`))
    if (was.against) findings.push(opens("users who were excluded by them may get the relation"))
  }
  for (const each of added) {
    const condition = each.condition === undefined ? "" : `, if \`${each.condition}\` is true`
    if (is.against) findings.push(closes(`it can be excluded for \`${subjectWords(each)}\`${condition}`))
    if (!is.along) continue
    findings.push(
      each.wildcard === undefined
        ? opens(`it can be given to \`${subjectWords(each)}\`${condition}`)
        : opens(`one tuple can give it to every \`${each.type}\`${condition}`),
    )
  }
  return findings
}

/** Whether a rewrite takes direct subjects on its positive side, and on its negative side (`but not`). */
function sidesOf(rewrite: Userset): { readonly along: boolean; readonly against: boolean } {
  if ("this" in rewrite) return { along: true, against: false }
  if ("difference" in rewrite) {
    const [base, subtract] = [sidesOf(rewrite.difference.base), sidesOf(rewrite.difference.subtract)]
    return { along: base.along || subtract.against, against: base.against || subtract.along }
  }
  const parts =
    "union" in rewrite ? rewrite.union.child : "intersection" in rewrite ? rewrite.intersection.child : []
  const sides = parts.map(sidesOf)
  return { along: sides.some(({ along }) => along), against: sides.some(({ against }) => against) }
}

/** `user:* viewer order:…`, in the order of a tuple. */
function shape(name: string, reference: RelationReference): string {
  const [type, relation] = name.split("#")
  const subject = subjectWords(reference)
  const user =
    reference.wildcard !== undefined ? subject : subject.replace(reference.type, `${reference.type}:…`)
  const condition = reference.condition === undefined ? " without condition" : ` with ${reference.condition}`
  return `${user} ${relation} ${type}:…${condition}`
}

/** An additional alternative opens, an additional condition closes. If both are possible, both are reported. */
class RewriteComparison {
  readonly #before: Relation
  readonly #after: Relation

  constructor(before: Relation, after: Relation) {
    this.#before = before
    this.#after = after
  }

  findings(): Finding[] {
    return this.#compare(this.#before.rewrite, this.#after.rewrite)
  }

  /** Compares two definitions part by part. The forms that add or remove an exception are recognised, because they have one effect only. */
  #compare(before: Userset, after: Userset): Finding[] {
    const [old, next] = [inOrder(before), inOrder(after)]
    if (same(old, next)) return []
    if ("difference" in old && "difference" in next) {
      const base = this.#compare(old.difference.base, next.difference.base)
      return [...base, ...this.#takenAway(old.difference.subtract, next.difference.subtract)]
    }
    if ("difference" in next && same(next.difference.base, old))
      return [closes(`users with ${this.#new([next.difference.subtract])} lose it`)]
    if ("difference" in old && same(old.difference.base, next))
      return [opens(`users with ${this.#old([old.difference.subtract])} get it too`)]
    if ("intersection" in old || "intersection" in next) return this.#intersection(old, next)
    return this.#union(old, next)
  }

  /** Parts of a union. A part that was replaced by a similar one is compared further. */
  #union(old: Userset, next: Userset): Finding[] {
    const { removed, added } = listChanges(partsOf(old, "union"), partsOf(next, "union"))
    const [gone] = removed
    const [come] = added
    if (removed.length === 1 && added.length === 1 && gone !== undefined && come !== undefined) {
      if (hasOperator(gone) && hasOperator(come)) return this.#compare(gone, come)
      if ("difference" in come && same(come.difference.base, gone)) return this.#compare(gone, come)
      if ("difference" in gone && same(gone.difference.base, come)) return this.#compare(gone, come)
      if (sharesDemand(gone, come)) return this.#intersection(gone, come)
    }
    return [
      ...added.map((part) => opens(`users with ${this.#new([part])} get it too`)),
      ...removed.map((part) => closes(`users with only ${this.#old([part])} lose it`)),
    ]
  }

  /** Parts of an intersection. If one part changed into another, both risks are possible. */
  #intersection(old: Userset, next: Userset): Finding[] {
    const { removed, added } = listChanges(partsOf(old, "intersection"), partsOf(next, "intersection"))
    if (removed.length === 0) return [closes(`it also requires ${this.#new(added)}`)]
    if (added.length === 0) return [opens(`it no longer requires ${this.#old(removed)}`)]
    const [gone] = removed
    const [come] = added
    const pair = removed.length === 1 && added.length === 1 && gone !== undefined && come !== undefined
    if (pair && !("intersection" in gone) && !("intersection" in come)) return this.#compare(gone, come)
    return [
      opens(`it no longer requires ${this.#old(removed)}`),
      closes(`it now requires ${this.#new(added)}`),
    ]
  }

  /** If more users are excluded, fewer users have the relation. */
  #takenAway(old: Userset, next: Userset): Finding[] {
    if (same(old, next)) return []
    const plain = [operator(old), operator(next)].every((kind) => kind === undefined || kind === "union")
    if (plain) {
      const { removed, added } = listChanges(partsOf(old, "union"), partsOf(next, "union"))
      return [
        ...added.map((part) => closes(`users with ${this.#new([part])} lose it`)),
        ...removed.map((part) => opens(`users with ${this.#old([part])} may get it too`)),
      ]
    }
    return this.#compare(old, next).map(({ risk, why }) => {
      const turned = risk === "opens" ? "closes" : risk === "closes" ? "opens" : risk
      const words = { opens: "fewer users are excluded: ", closes: "more users are excluded: " }
      const who = turned === "opens" || turned === "closes" ? words[turned] : ""
      return { risk: turned, why: `${who}in the excluded part, ${why}` }
    })
  }

  #old(parts: readonly Userset[]): string {
    return listWords(parts.map((part) => `\`${rewriteWords(part, this.#before.direct)}\``))
  }

  #new(parts: readonly Userset[]): string {
    return listWords(parts.map((part) => `\`${rewriteWords(part, this.#after.direct)}\``))
  }
}

/** Whether one of two parts has all conditions of the other, and more. */
function sharesDemand(old: Userset, next: Userset): boolean {
  const { removed, added } = listChanges(partsOf(old, "intersection"), partsOf(next, "intersection"))
  return removed.length === 0 || added.length === 0
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

/** Normalizes the order of parts in unions and intersections, and parentheses in chains of one operator: they have no meaning. */
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
