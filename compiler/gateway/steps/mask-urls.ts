import { neutral } from "../../analysis/finding.ts"
import { changedBody, nowAboutMessage, ownBody } from "../../analysis/message-rules.ts"
import { headSpan, mentions } from "../bind/bound.ts"
import { messageAt } from "../lower/header.ts"
import { statement } from "../print.ts"
import { type StatementRow, word } from "../schema/row.ts"
import type { StatementForm, StepText } from "../step-text.ts"

export const maskUrlsRows: readonly StatementRow[] = [
  {
    keyword: "headers",
    forms: [{ args: [] }],
    byDefault: "only the body",
    docs: "URLs in Location, Content-Location and Link are changed too.",
    example: "headers",
  },
]

/** `body mask-urls { headers }` */
export const maskUrlsForm: StatementForm = {
  form: { args: [word("mask-urls")], block: "mask-urls" },
  lower: (bound, { steps, place }) =>
    steps.add(
      { kind: "mask-urls", message: messageAt(place), headers: mentions(bound.block, "headers") },
      headSpan(bound.statement),
    ),
}

/** Printing and comparison of a step that replaces the backend's URLs with the gateway's. */
export const maskUrls: StepText<"mask-urls"> = {
  print: ({ headers }) => statement("body mask-urls", headers && "headers"),
  identities: ({ message }) => [`mask ${message}`],
  added: ({ message }) => changedBody(message),
  removed: ({ message }) => ownBody(message),
  changed: {
    message: nowAboutMessage,
    headers: (_, after, { after: { message } }) =>
      neutral(`URLs in header fields of the ${message} ${after ? "are changed too" : "stay as they are"}`),
  },
}
