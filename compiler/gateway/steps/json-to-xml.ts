import { changedBody, otherBody, ownBody } from "../../analysis/message-rules.ts"
import { textWords } from "../../analysis/words.ts"
import { headSpan, mentions, statementOf } from "../bind/bound.ts"
import { messageAt } from "../lower/header.ts"
import { statement } from "../print.ts"
import { type StatementRow, slot, word } from "../schema/row.ts"
import type { StatementForm, StepText } from "../step-text.ts"
import { conversionLines, conversionOf, conversionRows, conversionRules } from "./xml-to-json.ts"

export const jsonToXmlRows: readonly StatementRow[] = [
  ...conversionRows,
  {
    keyword: "dates",
    forms: [{ args: [] }],
    docs: "Strings that are dates and times are written without zeros at the end of the fraction.",
    example: "dates",
  },
  {
    keyword: "separator",
    forms: [{ args: [slot("character", "constant", { max: 1 })] }],
    byDefault: '"_"',
    docs: "The character that replaces the `:` of a namespace in member names.",
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

/** `body json-to-xml { always; if-accepted; dates; separator "."; namespaces "xmlns"; attributes "attrs" }` */
export const jsonToXmlForm: StatementForm = {
  form: { args: [word("json-to-xml")], block: "json-to-xml" },
  lower: ({ block, statement }, { steps, place }) => {
    const named = (keyword: string) => statementOf(block, keyword)?.args.value<string>("name")
    const [namespacePrefix, attributeBlock] = [named("namespaces"), named("attributes")]
    return steps.add(
      {
        kind: "json-to-xml",
        message: messageAt(place),
        ...conversionOf(block),
        parseDates: mentions(block, "dates"),
        // The same default as `namespace-separator` in policy documents.
        namespaceSeparator: statementOf(block, "separator")?.args.value<string>("character") ?? "_",
        ...(namespacePrefix === undefined ? {} : { namespacePrefix }),
        ...(attributeBlock === undefined ? {} : { attributeBlock }),
      },
      headSpan(statement),
    )
  },
}

/** Printing and comparison of a step that converts JSON to XML. */
export const jsonToXml: StepText<"json-to-xml"> = {
  print: (step) => {
    const { parseDates, namespaceSeparator, namespacePrefix, attributeBlock } = step
    return statement(
      "body json-to-xml",
      ...conversionLines(step),
      parseDates && "dates",
      namespaceSeparator !== "_" && `separator ${textWords(namespaceSeparator)}`,
      namespacePrefix !== undefined && `namespaces ${textWords(namespacePrefix)}`,
      attributeBlock !== undefined && `attributes ${textWords(attributeBlock)}`,
    )
  },
  identities: () => ["json-to-xml"],
  added: ({ message }) => changedBody(message),
  removed: ({ message }) => ownBody(message),
  changed: {
    ...conversionRules,
    parseDates: (_, after, { after: { message } }) =>
      otherBody(message, after ? "times in the form of XML" : "times as they are in JSON"),
    namespaceSeparator: (before, after, { after: { message } }) =>
      otherBody(message, `prefixes of namespaces split at \`${after}\`, not at \`${before}\``),
    namespacePrefix: (_, after, { after: { message } }) =>
      otherBody(
        message,
        after === undefined ? "no namespaces declared" : `namespaces declared by \`${after}\``,
      ),
    attributeBlock: (_, after, { after: { message } }) =>
      otherBody(message, after === undefined ? "no attributes" : `the members of \`${after}\` as attributes`),
  },
}
