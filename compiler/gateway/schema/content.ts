import { type Row, slot } from "./row.ts"

const always: Row = {
  keyword: "always",
  forms: [{ args: [] }],
  byDefault: "only where Content-Type says so",
  docs: "Converts whatever the message says its body is.",
  example: "always",
}

const ifAccepted: Row = {
  keyword: "if-accepted",
  forms: [{ args: [] }],
  docs: "Converts only where the caller's Accept header takes the result.",
  example: "if-accepted",
}

export const xmlToJsonRows: readonly Row[] = [
  {
    keyword: "style",
    forms: [{ args: [slot("style", "choice", { choices: ["direct", "friendly"] })] }],
    byDefault: "direct",
    docs: "`direct`: attributes are `@name`; `friendly`: attributes are members like any other.",
    example: "style friendly",
  },
  always,
  ifAccepted,
  {
    keyword: "arrays",
    forms: [{ args: [] }],
    docs: "Child elements are arrays, also where there is one of a name.",
    example: "arrays",
  },
]

export const jsonToXmlRows: readonly Row[] = [
  always,
  ifAccepted,
  {
    keyword: "dates",
    forms: [{ args: [] }],
    docs: "Dates and times among the texts are written without zeros at the end of the fraction.",
    example: "dates",
  },
  {
    keyword: "separator",
    forms: [{ args: [slot("character", "constant", { max: 1 })] }],
    byDefault: '"_"',
    docs: "The character that stands for the `:` of a namespace in the names of members.",
    example: 'separator "."',
  },
  {
    keyword: "namespaces",
    forms: [{ args: [slot("name", "constant", { max: 64 })] }],
    docs: "Members that begin with this and the separator declare namespaces.",
    example: 'namespaces "xmlns"',
  },
  {
    keyword: "attributes",
    forms: [{ args: [slot("name", "constant", { max: 64 })] }],
    docs: "The member whose own members are attributes.",
    example: 'attributes "attrs"',
  },
]

export const maskUrlsRows: readonly Row[] = [
  {
    keyword: "headers",
    forms: [{ args: [] }],
    byDefault: "the body alone",
    docs: "URLs in Location, Content-Location and Link are changed too.",
    example: "headers",
  },
]
