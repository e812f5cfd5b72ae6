import type { Policy } from "../policy.ts"
import { conversionStep } from "./conversion.ts"

/** Converts an XML body to JSON. */
export const xmlToJson: Policy<"xml-to-json"> = (plan, provision) => {
  const { message, apply, considerAccept, style, alwaysArray } = plan
  return conversionStep(
    {
      message,
      apply,
      considerAccept,
      from: /^\s*[\w.+-]+\/(?:[\w.+-]+\+)?xml\b/i,
      to: "application/json",
      job: "xml-to-json",
      options: { style, alwaysArray },
    },
    provision,
  )
}
