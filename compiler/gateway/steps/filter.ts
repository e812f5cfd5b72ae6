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
import { slot, word } from "../schema/row.ts"
import type { Fields, StatementDefinition, StepText } from "../step-text.ts"

/** `filter "items" by RELATION of "…" for "…"`: expressions in the object can read `item`. */
export const filterStatement: StatementDefinition = {
  row: {
    keyword: "filter",
    several: true,
    forms: [
      {
        args: [slot("items", "constant", { max: 1024 }), word("by"), slot("relation", "relation"), ...asked],
        block: "question",
      },
    ],
    docs: "Removes from a list in a JSON response the items that the caller may not see. The string is the path of the list: dots lead into objects, `.` is the whole body. `item` is an item of the list. All items are checked in one batch.",
    example: 'filter "items" by viewer of "order:${item.id}" for "user:${jwt.sub}"',
  },
  lower: (bound, context) => {
    const { place, places, steps } = context
    const route = { key: place.route, span: place.routeSpan }
    const inside = places.make(route, place.section, place.pathParameters, place.auth, true, place.variables)
    const question = lowerQuestion(bound, bound.args.word("relation"), { ...context, place: inside })
    const items = bound.args.value<string>("items")
    if (question === undefined || items === undefined) return undefined
    return steps.add(
      { kind: "filter", items: items === "." ? "" : items, ...question },
      headSpan(bound.statement),
    )
  },
}

/** Printing and comparison of a step that removes items that the caller cannot see from a list. */
export const filter: StepText<"filter"> = {
  print: (step, printing) =>
    statement(
      `filter ${textWords(step.items || ".")} by ${askedText(step, printing)}`,
      circumstanceLines(step),
    ),
  identities: ({ items }) => [`filter ${items}`, "filter"],
  added: ({ relation }) => closes(`callers no longer see items for which they do not have \`${relation}\``),
  removed: ({ relation }) => opens(`callers now also see items for which they do not have \`${relation}\``),
  changed: (before, after, plans) =>
    compareFields<Fields<"filter">>(
      {
        ...askedRules,
        items: (_, next) => opens(`items are now removed only from the list at \`${next}\``),
        relation: () => otherRelation(before, after, plans.after),
        object: () => opens("another object is checked for each item"),
        user: () => opens("another user is checked"),
        tuples: () => opens("the checks use other contextual tuples"),
      },
      before,
      after,
    ),
}

/** A relation that the model proves to have fewer users makes lists shorter. Without a proof, items may appear, too. */
function otherRelation(before: StepOf<"filter">, after: StepOf<"filter">, plan: PlanBody): Finding {
  const [old, next] = [before.relation, after.relation]
  if (after.pdp !== undefined)
    return opens(
      `the action \`${next}\` is checked for each item instead of \`${old}\`: which items it leaves is not known here`,
    )
  switch (usersAfter(before, after, plan)) {
    case "fewer":
      return closes(
        `users with \`${old}\` but not \`${next}\` no longer see an item; all users with \`${next}\` have \`${old}\``,
      )
    case "more":
      return opens(`users with \`${next}\` now see an item without \`${old}\``)
    case "unknown":
      return opens(
        `users with \`${next}\` now see an item, also those without \`${old}\`; users with only \`${old}\` no longer see it`,
      )
  }
}
