import type { Policy } from "../policy.ts"
import { conversionStep } from "./conversion.ts"

/** Makes JSON of a body that is XML. */
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
