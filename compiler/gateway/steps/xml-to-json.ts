import {
  changedBody,
  type MessageKind,
  nowAboutMessage,
  otherBody,
  ownBody,
} from "../../analysis/message-rules.ts"
import { type BoundBlock, headSpan, mentions, statementOf } from "../bind/bound.ts"
import { messageAt } from "../lower/header.ts"
import { statement } from "../print.ts"
import { type StatementRow, slot, word } from "../schema/row.ts"
import type { StatementForm, StepText } from "../step-text.ts"

/** The common fields of conversions between JSON and XML. */
interface Conversion {
  readonly message: MessageKind
  readonly apply: "always" | "content-type"
  readonly considerAccept: boolean
}

/** When a body is converted. */
export const conversionRows: readonly StatementRow[] = [
  {
    keyword: "always",
    forms: [{ args: [] }],
    byDefault: "only bodies with an XML Content-Type",
    docs: "Converts the body whatever its Content-Type is.",
    example: "always",
  },
  {
    keyword: "if-accepted",
    forms: [{ args: [] }],
    docs: "Converts only if the caller's Accept header allows JSON.",
    example: "if-accepted",
  },
]

export const xmlToJsonRows: readonly StatementRow[] = [
  {
    keyword: "style",
    forms: [{ args: [slot("style", "choice", { choices: ["direct", "friendly"] })] }],
    byDefault: "direct",
    docs: "`direct`: attributes become members named `@name`; `friendly`: attributes become ordinary members.",
    example: "style friendly",
  },
  ...conversionRows,
  {
    keyword: "arrays",
    forms: [{ args: [] }],
    docs: "Child elements always become arrays, also a single one.",
    example: "arrays",
  },
]

/** The fields that define when a body is converted. */
export function conversionOf(block: BoundBlock | undefined): Omit<Conversion, "message"> {
  return {
    apply: mentions(block, "always") ? "always" : "content-type",
    considerAccept: mentions(block, "if-accepted"),
  }
}

/** `body xml-to-json { style friendly; always; if-accepted; arrays }` */
export const xmlToJsonForm: StatementForm = {
  form: { args: [word("xml-to-json")], block: "xml-to-json" },
  lower: ({ block, statement }, { steps, place }) => {
    const style = statementOf(block, "style")?.args.value<string>("style")
    return steps.add(
      {
        kind: "xml-to-json",
        message: messageAt(place),
        // The words of APIM's attribute in the plan: the runtime was compared with it.
        style: style === "friendly" ? "javascript-friendly" : "direct",
        ...conversionOf(block),
        alwaysArray: mentions(block, "arrays"),
      },
      headSpan(statement),
    )
  },
}

/** Prints the statements that define when a body is converted. */
export function conversionLines({ apply, considerAccept }: Conversion): (string | false)[] {
  return [apply === "always" && "always", considerAccept && "if-accepted"]
}

interface After {
  readonly after: Conversion
}

/** What differences in these fields mean. */
export const conversionRules = {
  message: nowAboutMessage,
  apply: (_: unknown, after: Conversion["apply"], { after: { message } }: After) =>
    otherBody(
      message,
      after === "always"
        ? "bodies converted whatever their Content-Type says"
        : "bodies of other Content-Types as they are",
    ),
  considerAccept: (_: unknown, after: boolean, { after: { message } }: After) =>
    otherBody(
      message,
      after
        ? "a converted body only where the Accept of the request asks for it"
        : "a converted body whatever the Accept of the request asks for",
    ),
}

/** Printing and comparison of a step that converts XML to JSON. */
export const xmlToJson: StepText<"xml-to-json"> = {
  print: (step) =>
    statement(
      "body xml-to-json",
      step.style === "javascript-friendly" && "style friendly",
      ...conversionLines(step),
      step.alwaysArray && "arrays",
    ),
  identities: () => ["xml-to-json"],
  added: ({ message }) => changedBody(message),
  removed: ({ message }) => ownBody(message),
  changed: {
    ...conversionRules,
    style: (_, after, { after: { message } }) =>
      otherBody(
        message,
        after === "direct" ? "attributes as `@name` in JSON" : "attributes as plain members in JSON",
      ),
    alwaysArray: (_, after, { after: { message } }) =>
      otherBody(
        message,
        after ? "single elements in arrays too" : "a single element as itself instead of in an array",
      ),
  },
}
