import { closes, opens } from "../../analysis/finding.ts"
import { textWords } from "../../analysis/words.ts"
import { headSpan } from "../bind/bound.ts"
import { lowerQuestion } from "../lower/question.ts"
import { statement } from "../print.ts"
import { askedRules, askedText, circumstanceLines } from "../question-text.ts"
import { asked } from "../schema/relations.ts"
import { slot, word } from "../schema/row.ts"
import type { StatementDefinition, StepText } from "../step-text.ts"

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
  changed: {
    ...askedRules,
    items: (_, after) => opens(`items are now removed only from the list at \`${after}\``),
    relation: (before, after) => opens(`users with \`${after}\` instead of \`${before}\` see an item`),
    object: () => opens("another object is checked for each item"),
    user: () => opens("another user is checked"),
    tuples: () => opens("the checks use other contextual tuples"),
  },
}
