import type { Policy } from "../policy.ts"
import { conversionStep } from "./conversion.ts"

/** Converts a JSON body to XML. */
export const jsonToXml: Policy<"json-to-xml"> = (plan, provision) => {
  const { message, apply, considerAccept, parseDates, namespaceSeparator, namespacePrefix, attributeBlock } =
    plan
  const options = { parseDates, namespaceSeparator, namespacePrefix, attributeBlock }
  return conversionStep(
    {
      message,
      apply,
      considerAccept,
      from: /^\s*[\w.+-]+\/(?:[\w.+-]+\+)?json\b/i,
      to: "application/xml",
      job: "json-to-xml",
      options,
    },
    provision,
  )
}
