import { conversionStep } from "./conversion.ts"
import { messageOf } from "./message.ts"
import type { Policy } from "./policy.ts"
import { jsonOfXml } from "./xml-json.ts"

/** Makes JSON of a body that is XML. */
export const xmlToJson: Policy<"xml-to-json"> = (plan, provision) => {
  const { message, apply, considerAccept, style, alwaysArray } = plan
  const { body } = messageOf(message)
  return conversionStep(
    {
      message,
      apply,
      considerAccept,
      from: /^\s*[\w.+-]+\/(?:[\w.+-]+\+)?xml\b/i,
      to: "application/json",
      convert: (exchange) => JSON.stringify(jsonOfXml(body(exchange).text(), { style, alwaysArray })),
    },
    provision,
  )
}
