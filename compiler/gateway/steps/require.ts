import type { ModelPlan, RelationNode } from "../../../runtime/plan/authorization-model.ts"
import { canonicalJson } from "../../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import { closes, compareFields, type Finding, opens } from "../../analysis/finding.ts"
import { ownOf, same } from "../../analysis/same.ts"
import { textWords } from "../../analysis/words.ts"
import { headSpan } from "../bind/bound.ts"
import { lowerQuestion } from "../lower/question.ts"
import { statement } from "../print.ts"
import { askedRules, askedText, circumstanceLines } from "../question-text.ts"
import { asked } from "../schema/relations.ts"
import { slot } from "../schema/row.ts"
import type { Fields, StatementDefinition, StepText } from "../step-text.ts"
import { allForm, lowerRequireAll } from "./require-all.ts"
import { anyForm, lowerRequireAny } from "./require-any.ts"

/**
 * `require RELATION of "type:…" for "type:…" in STORE { … }`, checked against the store's model; or `require any { … }`, `require all { …
 * }`.
 */
export const requireStatement: StatementDefinition = {
  row: {
    keyword: "require",
    several: true,
    forms: [{ args: [slot("relation", "relation"), ...asked], block: "question" }, anyForm, allForm],
    docs: "Asks the authorization engine or a decision point whether the user has the relation to the object. If not, the caller gets 403. With `any`, one relation of the block is enough; with `all`, every one is required. Name the store or the decision point where there are several.",
    example: 'require viewer of "order:${path.id}" for "user:${jwt.sub}"',
  },
  lower: (bound, context) => {
    const relation = bound.args.word("relation")
    if (relation === undefined) {
      const [first] = bound.statement.args
      const isAll = first?.kind === "word" && first.text === "all"
      return isAll ? lowerRequireAll(bound, context) : lowerRequireAny(bound, context)
    }
    const question = lowerQuestion(bound, relation, context)
    return question === undefined
      ? undefined
      : context.steps.add({ kind: "require", ...question }, headSpan(bound.statement))
  },
}

/** Printing and comparison of a step that checks whether the caller has a relation. */
export const requireText: StepText<"require"> = {
  print: (step, printing) => statement(`require ${askedText(step, printing)}`, circumstanceLines(step)),
  identities: ({ relation, object, user, store, pdp }) => {
    const decider = pdp === undefined ? `store ${store}` : `pdp ${pdp}`
    return [
      `require ${canonicalJson([decider, object, user])}`,
      `require ${canonicalJson([decider, relation])}`,
      `require ${canonicalJson([object, user])}`,
      "require",
    ]
  },
  added: ({ relation }) =>
    closes(`callers without \`${relation}\` get 403; if the engine does not respond, all callers get 503`),
  removed: ({ relation }) => opens(`\`${relation}\` is no longer required`),
  changed: (before, after, plans) =>
    compareFields<Fields<"require">>(
      {
        ...askedRules,
        relation: () => otherRelation(before, after, plans.after),
        object: (_, next) => opens(`another object is checked: ${textWords(next)}`),
        user: (_, next) => opens(`another user is checked: ${textWords(next)}`),
        tuples: () => opens("the check uses other contextual tuples"),
      },
      before,
      after,
    ),
}

/** Whether one relation implies the other is decided by the model. Without a model, or for other objects, both directions may change. */
function otherRelation(
  before: StepOf<"require">,
  after: StepOf<"require">,
  { authz, models }: PlanBody,
): Finding {
  const [old, next] = [before.relation, after.relation]
  if (after.pdp !== undefined)
    return opens(
      `the action \`${next}\` is checked instead of \`${old}\`: which callers it allows is not known here`,
    )
  const type = typeOf(after.object)
  const model = ownOf(models, ownOf(authz?.stores ?? {}, after.store ?? "")?.model ?? "")
  const sure = before.store === after.store && same(before.object, after.object) && model !== undefined
  if (sure && isImplied(model, type, next, old))
    return closes(
      `users with \`${old}\` but not \`${next}\` are refused; all users with \`${next}\` have \`${old}\``,
    )
  if (sure && isImplied(model, type, old, next))
    return opens(`users with \`${next}\` are now let through without \`${old}\``)
  return opens(
    `users with \`${next}\` are now let through, also those without \`${old}\`; users with only \`${old}\` are refused`,
  )
}

function typeOf(object: Text): string {
  const [first] = typeof object === "string" ? [object] : object.text
  return typeof first === "string" ? (first.split(":", 1)[0] ?? "") : ""
}

/**
 * Whether everyone with `narrow` on an object of `type` also has `wide` on it, for all possible tuples. Recognized only if the relation
 * plans show it directly: `wide` is computed from `narrow` by unions, or by intersections in which every operand includes it. False if
 * unknown.
 */
export function isImplied(model: ModelPlan, type: string, narrow: string, wide: string): boolean {
  const { relations } = model.relations
  const indexOf = (name: string) => relations.findIndex((row) => row.type === type && row.relation === name)
  const [from, to] = [indexOf(narrow), indexOf(wide)]
  if (from < 0 || to < 0) return false
  if (from === to) return true
  const seen = new Set<number>()
  const relationHolds = (index: number): boolean => {
    if (index === from) return true
    if (seen.has(index)) return false
    seen.add(index)
    const row = relations[index]
    return row !== undefined && holds(row.plan)
  }
  const holds = (node: RelationNode): boolean => {
    if ("all" in node) return node.all.every(holds)
    if ("but" in node) return false
    const { same = [], refs = [], branches = [] } = node.any
    return same.includes(from) || refs.some(relationHolds) || branches.some(holds)
  }
  return relationHolds(to)
}
