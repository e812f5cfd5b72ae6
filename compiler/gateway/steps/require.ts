import { canonicalJson } from "../../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import { closes, compareFields, type Finding, opens } from "../../analysis/finding.ts"
import { textWords } from "../../analysis/words.ts"
import { headSpan } from "../bind/bound.ts"
import { lowerQuestion } from "../lower/question.ts"
import { statement } from "../print.ts"
import { askedRules, askedText, circumstanceLines } from "../question-text.ts"
import { usersAfter } from "../relation-order.ts"
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
function otherRelation(before: StepOf<"require">, after: StepOf<"require">, plan: PlanBody): Finding {
  const [old, next] = [before.relation, after.relation]
  if (after.pdp !== undefined)
    return opens(
      `the action \`${next}\` is checked instead of \`${old}\`: which callers it allows is not known here`,
    )
  switch (usersAfter(before, after, plan)) {
    case "fewer":
      return closes(
        `users with \`${old}\` but not \`${next}\` are refused; all users with \`${next}\` have \`${old}\``,
      )
    case "more":
      return opens(`users with \`${next}\` are now let through without \`${old}\``)
    case "unknown":
      return opens(
        `users with \`${next}\` are now let through, also those without \`${old}\`; users with only \`${old}\` are refused`,
      )
  }
}
