import type { StepOf } from "../../../runtime/plan/steps.ts"
import { closes, opens } from "../../analysis/finding.ts"
import { inValues, otherValue, sentByGateway } from "../../analysis/message-rules.ts"
import { callersDecide, secretsIn } from "../../analysis/text-findings.ts"
import { nameShown, nameWords } from "../../analysis/words.ts"
import { headSpan } from "../bind/bound.ts"
import { lowerAll } from "../lower/header.ts"
import { statement, textsOf } from "../print.ts"
import { many, slot, word } from "../schema/row.ts"
import { namedIdentities, type StatementDefinition, type StepText } from "../step-text.ts"

type SetQuery = StepOf<"set-query">

const name = slot("name", "query-name")
const values = many(slot("value", "text"), 100)

/** `query set|append|default|remove "name" "value" …` */
export const query: StatementDefinition = {
  row: {
    keyword: "query",
    several: true,
    forms: [
      { args: [word("set"), name, values] },
      { args: [word("append"), name, values] },
      { args: [word("default"), name, values] },
      { args: [word("remove"), name] },
    ],
    docs: "Changes a query parameter of the request to the backend: `set` replaces it, `append` adds one, `default` sets it only where it is absent. Several values are several parameters.",
    example: 'query set "tenant" "${jwt.tenant}"',
  },
  lower: (bound, { texts, place, steps }) => {
    const action = bound.statement.args[0]
    const name = bound.args.value<string>("name")
    if (action?.kind !== "word" || name === undefined) return undefined
    // Services with a key in the query exist; the plan keeps the reference.
    const values = lowerAll(bound, "value", (argument) => texts.lower(argument, place, { secrets: true }))
    if (values === undefined) return undefined
    return steps.add(
      { kind: "set-query", action: action.text as SetQuery["action"], name, values },
      headSpan(bound.statement),
    )
  },
}

/** Printing and comparison of a step that changes a query parameter. */
export const setQuery: StepText<"set-query"> = {
  print: ({ action, name, values }, printing) => {
    if (typeof name !== "string") printing.lacks("a name that is computed per request")
    return statement(`query ${action} ${nameWords(name)}${textsOf(values)}`)
  },
  identities: ({ name, action }) => namedIdentities("query", name, action),
  added: ({ name, action, values }) =>
    action === "remove"
      ? closes(`the backend no longer gets the caller's query parameter ${nameShown(name)}`)
      : [sentByGateway(`the query parameter ${nameShown(name)}`, "added", false), ...secretsIn(values)],
  removed: ({ name, action }) =>
    action === "append" || action === "default"
      ? sentByGateway(`the query parameter ${nameShown(name)}`, "removed", false)
      : // `set` and `remove` keep what the caller sends under this name from the backend.
        opens(`the caller's own query parameter ${nameShown(name)} reaches the backend`),
  changed: {
    name: (_, after) => opens(`it now changes ${nameShown(after)}`),
    action: (before, after, items) => {
      const exclusive = (action: string) => action === "set" || action === "remove"
      const shown = `the query parameter ${nameShown(items.after.name)}`
      if (exclusive(before) && !exclusive(after))
        return opens(`the caller's own ${shown.slice(4)} reaches the backend`)
      if (after === "remove") return closes(`the backend no longer gets ${shown}`)
      return sentByGateway(shown, before === "remove" ? "added" : "changed", false)
    },
    values: (before, after, items) => [
      // From or to a removal there is only one side; `action` says what that means.
      ...(before.length === 0 || after.length === 0
        ? []
        : [otherValue(before, after, `the query parameter ${nameShown(items.after.name)}`, false)]),
      ...inValues(before, after, callersDecide),
      ...inValues(before, after, (known, value) => secretsIn(value, known)),
    ],
  },
}
