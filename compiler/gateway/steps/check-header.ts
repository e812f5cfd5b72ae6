import type { Text } from "../../../runtime/plan/text.ts"
import { breaking, closes, type FieldRules, neutral, opens } from "../../analysis/finding.ts"
import { listChanges } from "../../analysis/same.ts"
import { codeWords } from "../../analysis/words.ts"
import { headSpan, mentions, statementOf } from "../bind/bound.ts"
import { lowerAll, reportDropped } from "../lower/header.ts"
import { countText, flagText, messageText, statement, statusText, textsOf } from "../print.ts"
import { refusalMessage, refusalStatus } from "../schema/refusal.ts"
import { many, optional, type StatementRow, slot, word } from "../schema/row.ts"
import type { Fields, StatementDefinition, StepText } from "../step-text.ts"
import { checkAny } from "./any-of.ts"
import { checkJwt } from "./validate-jwt.ts"

/** `check header "NAME" is "…" { … }` */
export const check: StatementDefinition = {
  row: {
    keyword: "check",
    several: true,
    forms: [
      {
        args: [
          word("header"),
          slot("name", "header-name"),
          optional(word("is"), many(slot("value", "quoted"), 100)),
        ],
        block: "check",
      },
    ],
    docs: "Refuses requests without the header, or with another value than these.",
    example: 'check header "X-Tenant" is "acme" "globex" { status 404 }',
  },
  lower: (bound, { steps, texts, place, report }) => {
    const name = bound.args.value<string>("name")
    const values = lowerAll(bound, "value", (argument) => texts.lower(argument, place))
    const messageAt = statementOf(bound.block, "message")?.args.text("message")
    const message = messageAt === undefined ? undefined : texts.lower(messageAt, place)
    if (name === undefined || values === undefined || (messageAt !== undefined && message === undefined))
      return undefined
    // A header that the gateway drops before this step can never have a value here.
    reportDropped(name, headSpan(bound.statement), report)
    return steps.add(
      {
        kind: "check-header",
        name,
        values,
        ignoreCase: mentions(bound.block, "ignore-case"),
        // 403, because the caller may be known and is refused for what it sent.
        status: statementOf(bound.block, "status")?.args.value<number>("status") ?? 403,
        ...(message === undefined ? {} : { message }),
      },
      headSpan(bound.statement),
    )
  },
}

/** `inbound` also has token checks, which run in order and inside of conditions: `check jwt …`, `check any { … }`. */
export const checkInOrder: StatementDefinition = {
  row: {
    ...check.row,
    forms: [...check.row.forms, checkJwt.form, checkAny.form],
    docs: "Refuses requests without a header, or with another value of it than these; or requests without a valid token, in addition to `auth`. One of the tokens in an `any` block is enough.",
  },
  lower: (bound, context) => {
    // The form tells them apart, because the words of `check` differ only in their arguments.
    if (bound.form === checkJwt.form) return checkJwt.lower(bound, context)
    return (bound.form === checkAny.form ? checkAny : check).lower(bound, context)
  },
}

/** The statements in the block of `check header`. */
export const checkRows: readonly StatementRow[] = [
  {
    keyword: "ignore-case",
    forms: [{ args: [] }],
    docs: "Ignores upper and lower case.",
    example: "ignore-case",
  },
  refusalStatus("403", "Status when the header is missing or has another value."),
  refusalMessage,
]

/** Printing and comparison of a step that refuses requests by a header. */
export const checkHeader: StepText<"check-header"> = {
  print: ({ name, values, ignoreCase, status, message }, printing) =>
    statement(
      `check header ${JSON.stringify(printing.header(name))}${values.length === 0 ? "" : ` is${textsOf(values)}`}`,
      flagText(ignoreCase, "ignore-case", printing),
      statusText(status, 403, printing),
      messageText(message),
    ),
  identities: ({ name }) => [`check header ${name}`, "check header"],
  added: ({ name, status }) =>
    closes(`requests with a missing or invalid header \`${name}\` get ${countText(status)}`),
  removed: ({ name }) => opens(`the header \`${name}\` is no longer checked`),
  changed: {
    name: (before, after) => [
      opens(`the header \`${before}\` is no longer checked`),
      closes(`the header \`${after}\` is checked now`),
    ],
    values: (before, after) => {
      // No values: the header must only be present.
      if (after.length === 0) return opens("any value is accepted now")
      if (before.length === 0) return closes("the header must now have one of the listed values")
      const { added, removed } = listChanges(before, after)
      return [
        ...(added.length === 0 ? [] : [opens(`the value ${namesOf(added)} is now accepted`)]),
        ...(removed.length === 0 ? [] : [closes(`the value ${namesOf(removed)} is no longer accepted`)]),
      ]
    },
    ignoreCase: (_, after) =>
      after === false
        ? closes("the comparison is now case-sensitive")
        : opens("the comparison may now ignore upper and lower case"),
    status: (before, after) =>
      breaking(`requests without it now get ${countText(after)} instead of ${countText(before)}`),
    message: () => neutral("requests without it get another message"),
  } satisfies FieldRules<Fields<"check-header">>,
}

function namesOf(values: readonly Text[]): string {
  return codeWords(values.map((each) => (typeof each === "string" ? each : JSON.stringify(each))))
}
