import { many, optional, type Row, slot, word } from "./row.ts"

const actions = ["prevent", "detect", "ignore"]
const action = slot("action", "choice", { choices: actions })
const codes = many(slot("code", "status-or-class"), 50)
const names = many(slot("name", "header-name"), 50)

/** Judges answers by what the statement itself says; `validate response` judges by the OpenAPI document. */
export const validateAnswer: Row = {
  keyword: "validate",
  several: true,
  forms: [
    { args: [word("status"), optional(action)], block: "validate status", blockRequired: true },
    { args: [word("headers"), optional(action)], block: "validate headers", blockRequired: true },
  ],
  docs: "Judges the status or the headers of the answer by what its block says, with or without a document: `prevent`, which counts without a word, answers 502, `detect` notes it.",
  example: "validate status { allow 200 404 }",
}

const errors: Row = {
  keyword: "errors",
  forms: [{ args: [slot("variable", "value-name")] }],
  byDefault: "no variable",
  docs: "The variable that gets the list of all that was found; it is not there where nothing was: `has(var.found)`.",
  example: "errors found",
}

function judged(keyword: string, docs: string): Row {
  return { keyword, several: true, forms: [{ args: [codes] }], docs, example: `${keyword} 500 5xx` }
}

export const validateStatusRows: readonly Row[] = [
  judged("allow", "Statuses that are right. An exact status counts before its class."),
  judged("detect", "Statuses that are noted."),
  judged("prevent", "Statuses that are answered 502."),
  errors,
]

export const validateHeadersRows: readonly Row[] = [
  {
    keyword: "allow",
    several: true,
    forms: [{ args: [names] }],
    docs: "Headers an answer may have besides those every answer may have, such as Content-Type.",
    example: 'allow "X-Total" "X-Page"',
  },
  {
    keyword: "require",
    several: true,
    forms: [{ args: [names] }],
    docs: "Headers an answer must have.",
    example: 'require "X-Total"',
  },
  {
    keyword: "others",
    forms: [{ args: [action] }],
    byDefault: "as the statement says",
    docs: "What happens to answers with headers nobody named.",
    example: "others ignore",
  },
  errors,
]
