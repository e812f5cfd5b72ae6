import { many, optional, type Row, slot, word } from "./row.ts"

const actions = ["prevent", "detect", "ignore"]
const action = slot("action", "choice", { choices: actions })
const codes = many(slot("code", "status-or-class"), 50)
const names = many(slot("name", "header-name"), 50)

const judgeContent = {
  args: [word("content"), optional(action)],
  block: "validate content" as const,
  blockRequired: true,
}
const contentDocs =
  "`content` judges the body where it stands: by its size, by its media type, by schemas. `prevent`, which counts without a word, answers 400 to a request and makes an answer 502, `detect` notes it."

/** Judges requests by what the statement itself says; `validate request` judges by the OpenAPI document. */
export const validateContentInOrder: Row = {
  keyword: "validate",
  several: true,
  forms: [judgeContent],
  docs: contentDocs,
  example: 'validate content { json "application/json"; map missing to "application/json" }',
}

/** Judges answers by what the statement itself says; `validate response` judges by the OpenAPI document. */
export const validateAnswer: Row = {
  keyword: "validate",
  several: true,
  forms: [
    { args: [word("status"), optional(action)], block: "validate status", blockRequired: true },
    { args: [word("headers"), optional(action)], block: "validate headers", blockRequired: true },
    judgeContent,
  ],
  docs: `Judges the status or the headers of the answer by what its block says, with or without a document: \`prevent\`, which counts without a word, answers 502, \`detect\` notes it. ${contentDocs}`,
  example: "validate status { allow 200 404 }",
}

const errors: Row = {
  keyword: "errors",
  forms: [{ args: [slot("variable", "value-name")] }],
  byDefault: "no variable",
  docs: 'The variable that gets the list of all that was found: of each `["in"]`, `.pointer` and `.message`; it is not there where nothing was: `has(var.found)`.',
  example: "errors found",
}

function judged(keyword: string, docs: string): Row {
  return { keyword, several: true, forms: [{ args: [codes] }], docs, example: `${keyword} 500 5xx` }
}

function judgedHeaders(keyword: string, docs: string): Row {
  return { keyword, several: true, forms: [{ args: [names] }], docs, example: `${keyword} "X-Debug"` }
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
  judgedHeaders("detect", "Headers that are noted where an answer has them."),
  judgedHeaders("prevent", "Headers with which an answer becomes 502."),
  {
    keyword: "others",
    forms: [{ args: [action] }],
    byDefault: "as the statement says",
    docs: "What happens to answers with headers nobody named.",
    example: "others ignore",
  },
  errors,
]

const media = slot("media", "constant", { label: '"TYPE"', max: 256 })
const to = [word("to"), slot("to", "constant", { label: '"TYPE"', max: 256 })]

function form(as: "xml" | "soap", what: string): Row {
  return {
    keyword: as,
    several: 50,
    forms: [{ args: [optional(media), optional(action)] }],
    docs: `Bodies of this media type are ${what}; without a type those the operation's document describes as XML, else all.`,
    example: as === "xml" ? 'xml "application/xml"' : 'soap "application/soap+xml"',
  }
}

export const validateContentRows: readonly Row[] = [
  {
    keyword: "json",
    several: 50,
    forms: [{ args: [optional(media), optional(action)], block: "validate content json" }],
    docs: "Bodies of this media type are JSON that fits the schema: the one the block names, else that of the operation's OpenAPI document, else any JSON. Without a type those the document describes are meant, else all.",
    example: 'json "application/json" { schema "models/order.schema.json" }',
  },
  form("xml", "well-formed XML"),
  form("soap", "SOAP messages, of the version the type is for"),
  {
    keyword: "map",
    several: 100,
    forms: [
      { args: [slot("what", "choice", { choices: ["missing", "any"] }), ...to] },
      { args: [slot("from", "constant", { label: '"TYPE"', max: 256 }), ...to] },
      { args: [slot("test", "condition"), ...to] },
    ],
    byDefault: "each type counts as what it is",
    docs: "What a media type counts as: what the first rule says whose type or condition fits; else what `missing` says of a body without a type, else what `any` says of all.",
    example: 'map "application/hal+json" to "application/json"',
  },
  {
    keyword: "size",
    forms: [{ args: [slot("size", "size", { min: 1, max: 1_073_741_824 }), optional(action)] }],
    byDefault: "1MB, and what happens to a larger body is what the statement says",
    docs: "Largest body, without its coding, and what happens to a larger one.",
    example: "size 100KB prevent",
  },
  errors,
]

export const contentJsonRows: readonly Row[] = [
  {
    keyword: "schema",
    forms: [
      {
        args: [
          slot("path", "constant", { label: '"FILE"' }),
          optional(slot("ref", "constant", { label: '"#/POINTER"' })),
        ],
      },
    ],
    byDefault: "that of the operation's OpenAPI document, else any JSON",
    docs: "The JSON Schema a body must fit, or the one the pointer leads to in the file.",
    example: 'schema "models/schemas.json" "#/components/schemas/Order"',
  },
  {
    keyword: "additional-properties",
    forms: [{ args: [slot("how", "choice", { choices: ["allow", "deny"] })] }],
    byDefault: "as the schema says",
    docs: "Whether objects may have properties the schema does not name, whatever the schema says of it.",
    example: "additional-properties deny",
  },
  {
    keyword: "any-case",
    forms: [{ args: [] }],
    byDefault: "names are as the schema has them",
    docs: "Names of properties count in any letter case; two of one object that differ in nothing else are refused.",
    example: "any-case",
  },
]
