import { problem } from "./answer.ts"
import type { Exchange } from "./exchange.ts"
import { forgetUnchanged, messageOf } from "./message.ts"
import type { Provision, Run } from "./policy.ts"
import { XmlProblem } from "./xml-reading.ts"

/** When a body is converted and to what; `convert` gets the body and makes the new one. */
export interface Conversion {
  readonly message: "request" | "response"
  readonly apply: "always" | "content-type"
  readonly considerAccept: boolean
  /** Media types of what is converted. */
  readonly from: RegExp
  /** Media type of what it becomes. */
  readonly to: string
  convert(exchange: Exchange): string
}

/** A step that converts a body where the message and the client ask for it; a body that is not what it should be is 400 (request) or 502 (response). */
export function conversionStep(conversion: Conversion, provision: Provision): Run {
  const message = messageOf(conversion.message)
  provision.need(message.needs)
  return (exchange) => {
    const body = message.body(exchange)
    const type = message.headers(exchange).get("content-type") ?? ""
    if (!body.present && (conversion.message === "request" || exchange.method !== "HEAD")) return undefined
    if (conversion.apply === "content-type" && !conversion.from.test(type)) return undefined
    if (conversion.considerAccept && !accepts(exchange.headers.get("accept"), conversion.to)) return undefined
    if (!body.present) {
      forgetUnchanged(exchange)
      message.headers(exchange).set("content-type", conversion.to)
      return undefined
    }
    try {
      body.replace(Buffer.from(conversion.convert(exchange)), conversion.to)
      return undefined
    } catch (error) {
      if (!(error instanceof XmlProblem)) throw error
      const cause = `the body of the ${conversion.message} cannot be converted: ${error.message}`
      return problem(conversion.message === "request" ? "invalid-request" : "bad-gateway", { cause })
    }
  }
}

/** Whether an Accept field allows a media type (RFC 9110 §12.5.1): also by `*`, and when it is not there. */
export function accepts(field: string | undefined, media: string): boolean {
  if (field === undefined || field.trim() === "") return true
  const [kind = "", subtype = ""] = media.split("/")
  return field.split(",").some((range) => {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase())
    if (parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))) return false
    const suffix = name.startsWith(`${kind}/`) && name.endsWith(`+${subtype}`)
    return name === media || name === `${kind}/*` || name === "*/*" || name === `text/${subtype}` || suffix
  })
}
