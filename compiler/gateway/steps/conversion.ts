import type { StepOf } from "../../../runtime/plan/steps.ts"
import { type Bound, mentions, statementOf } from "../bind/bound.ts"

type Message = "request" | "response"

/** `body xml-to-json { … }` or `body json-to-xml { … }` */
export function lowerConversion(
  what: string,
  message: Message,
  bound: Bound,
): StepOf<"xml-to-json"> | StepOf<"json-to-xml"> {
  const { block } = bound
  const apply = mentions(block, "always") ? "always" : "content-type"
  const considerAccept = mentions(block, "if-accepted")
  if (what === "xml-to-json") {
    const style = statementOf(block, "style")?.args.value<string>("style")
    return {
      kind: "xml-to-json",
      message,
      style: style === "friendly" ? "javascript-friendly" : "direct",
      apply,
      considerAccept,
      alwaysArray: mentions(block, "arrays"),
    }
  }
  const named = (keyword: string) => statementOf(block, keyword)?.args.value<string>("name")
  const namespacePrefix = named("namespaces")
  const attributeBlock = named("attributes")
  return {
    kind: "json-to-xml",
    message,
    apply,
    considerAccept,
    parseDates: mentions(block, "dates"),
    namespaceSeparator: statementOf(block, "separator")?.args.value<string>("character") ?? "_",
    ...(namespacePrefix === undefined ? {} : { namespacePrefix }),
    ...(attributeBlock === undefined ? {} : { attributeBlock }),
  }
}
