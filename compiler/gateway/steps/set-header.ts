import type { StepOf } from "../../../runtime/plan/steps.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import { breaking, closes, type Finding, neutral, opens } from "../../analysis/finding.ts"
import {
  inValues,
  isWithoutRights,
  otherValue,
  readByBrowsers,
  sentByGateway,
} from "../../analysis/message-rules.ts"
import { callersDecide, secretsIn } from "../../analysis/text-findings.ts"
import { constantName, nameShown } from "../../analysis/words.ts"
import { type BoundStatement, headSpan } from "../bind/bound.ts"
import { headerUse, lowerAll, mayWrite, messageAt } from "../lower/header.ts"
import type { StepContext } from "../lower/step.ts"
import { type Printing, statement, textsOf } from "../print.ts"
import { many, oneOf, slot, word } from "../schema/row.ts"
import { type Fields, namedIdentities, type StatementDefinition, type StepText } from "../step-text.ts"
import { lowerRename, renameForm } from "./rename-header.ts"

type SetHeader = StepOf<"set-header">

const values = many(slot("value", "text"), 100)
/** A name may be computed, for headers such as `X-Meta-NAME`. Its characters are then checked per request. */
const name = oneOf([slot("name", "header-name")], [slot("expression", "expression")])

/** `header set|append|default|remove "Name" "value" …` */
export const header: StatementDefinition = {
  row: {
    keyword: "header",
    several: true,
    forms: [
      { args: [word("set"), name, values] },
      { args: [word("append"), name, values] },
      { args: [word("default"), name, values] },
      { args: [word("remove"), name] },
      renameForm,
    ],
    docs: "Changes a header: `set` replaces it, `append` adds a line, `default` sets it only where it is absent, `remove` deletes it, `rename` renames it. An expression may yield the value. Several values become one comma-separated list, or one line each for headers such as Set-Cookie.",
    example: 'header set "X-User-Id" "${jwt.sub}"',
  },
  lower: (bound, context) => {
    const { texts, place, steps } = context
    const action = bound.statement.args[0]
    if (action?.kind !== "word") return undefined
    // A form of the statement and a step kind of its own, in the file of that kind.
    if (action.text === "rename") return lowerRename(bound, context)
    const message = messageAt(place)
    const name = nameOf(bound, message, context)
    if (name === undefined) return undefined
    const values = lowerAll(bound, "value", (argument) =>
      texts.lower(argument, place, headerUse(message === "request")),
    )
    if (values === undefined) return undefined
    return steps.add(
      { kind: "set-header", message, action: action.text as SetHeader["action"], name, values },
      headSpan(bound.statement),
    )
  },
}

/** The header name: a literal, or an expression, whose result is checked per request. */
function nameOf(
  bound: BoundStatement,
  message: "request" | "response",
  { expressions, place, report }: StepContext,
): SetHeader["name"] | undefined {
  const cel = bound.args.cel("expression")
  if (cel !== undefined) {
    // As a text with one expression, which the runtime already knows how to evaluate.
    const expression = expressions.lower(cel, place, "string")
    return expression === undefined ? undefined : { text: { text: [{ expression }] } }
  }
  const name = bound.args.value<string>("name")
  const at = bound.args.get("name")?.argument.span
  return name !== undefined && at !== undefined && mayWrite(name, at, message, report) ? name : undefined
}

/** The name as printed in the statement. */
function printedName(name: SetHeader["name"], printing: Printing): string {
  if (typeof name === "string") return JSON.stringify(printing.header(name))
  // An expression alone prints in parentheses; mixed with text only a policy document can have it.
  const [only, ...more] = typeof name.text === "string" ? [] : name.text.text
  if (typeof only === "object" && "expression" in only && more.length === 0)
    return `(${only.expression.text})`
  printing.lacks("a name that is partly computed per request")
  return nameShown(name)
}

/** Printing and comparison of a step that changes a header. */
export const setHeader: StepText<"set-header"> = {
  print: ({ action, name, values }, printing) =>
    statement(`header ${action} ${printedName(name, printing)}${textsOf(values)}`),
  identities: ({ message, name, action }) => namedIdentities(`header ${message}`, name, action),
  added: ({ message, action, name, values }) => {
    const shown = nameShown(name)
    if (message === "request") {
      // The only change of a request header that takes something away from the backend.
      if (action === "remove") return closes(`the backend no longer gets the caller's ${shown}`)
      const how = {
        set: "",
        append: " in addition to the caller's own",
        default: " if the caller sends none",
      }
      return [
        sentByGateway(`${shown}${how[action]}`, "added", isWithoutRights(constantName(name))),
        ...secretsIn(values),
      ]
    }
    const forBrowsers = readByBrowsers(constantName(name), shown)
    if (action === "remove") return [closes(`responses no longer have ${shown}`), ...forBrowsers]
    return [neutral(`callers get ${shown}`), ...forBrowsers, ...secretsIn(values)]
  },
  removed: ({ message, action, name }) => {
    // Without `set`, whatever the caller sends under this name gets through, and backends may trust it.
    const shown = nameShown(name)
    if (message === "request")
      return action === "set" || action === "remove"
        ? opens(`the caller's own ${shown} reaches the backend`)
        : sentByGateway(shown, "removed", isWithoutRights(constantName(name)))
    return action === "remove"
      ? opens(`callers see the backend's ${shown}`)
      : [
          breaking(`responses no longer have ${shown} from this statement`),
          ...readByBrowsers(constantName(name), shown),
        ]
  },
  changed: {
    message: (_, after) => opens(`it now applies to the ${after}`),
    name: (_, after) => opens(`it now changes ${nameShown(after)}`),
    action: (before, after, items) => [
      otherAction(before, after, items.after),
      ...(items.after.message === "request"
        ? []
        : readByBrowsers(constantName(items.after.name), nameShown(items.after.name))),
    ],
    values: (old, next, { before }) => otherValues(old, next, before),
  },
}

/** Backends may trust a header, so another value is a risk unless the header is known to carry no rights. */
function otherValues(old: readonly Text[], next: readonly Text[], before: Fields<"set-header">): Finding[] {
  const isRequest = before.message === "request"
  // A removal has no values to compare.
  if (next.length === 0) return []
  const sent = (known: Text | undefined, value: Text) => secretsIn(value, known)
  // From a removal to a value: `otherAction` says what that means, so only secrets are left to find.
  if (old.length === 0) return inValues([], next, sent)
  const [shown, name] = [nameShown(before.name), constantName(before.name)]
  return [
    isRequest ? otherValue(old, next, shown, isWithoutRights(name)) : neutral("callers get another value"),
    ...(isRequest ? inValues(old, next, callersDecide) : readByBrowsers(name, shown)),
    ...inValues(old, next, sent),
  ]
}

/** Only `set` and `remove` keep the caller's own header from the backend. */
function otherAction(
  before: SetHeader["action"],
  after: SetHeader["action"],
  { message, name }: Fields<"set-header">,
): Finding {
  const shown = nameShown(name)
  const exclusive = (action: string) => action === "set" || action === "remove"
  if (message === "request") {
    if (exclusive(before) && !exclusive(after)) return opens(`the caller's own ${shown} reaches the backend`)
    if (!exclusive(before) && exclusive(after))
      return closes(`the caller's own ${shown} no longer reaches the backend`)
    if (after === "remove") return closes(`the backend gets no ${shown}`)
    const difference = before === "remove" ? "added" : "changed"
    return sentByGateway(shown, difference, isWithoutRights(constantName(name)))
  }
  if (after === "remove") return breaking(`responses no longer have ${shown}`)
  if (exclusive(before) && !exclusive(after)) return opens(`callers see the backend's ${shown}`)
  return neutral(`callers get another value of ${shown}`)
}
