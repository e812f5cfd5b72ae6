import { problem } from "../messages/answer.ts"
import { forgetUnchanged, messageOf } from "../messages/message.ts"
import type { Outcome, Provision, Run } from "../policy.ts"
import { type BodyJob, type BodyResult, runBodyJob } from "./body-threads.ts"

/** When and how a body is converted; `job` converts its text. */
export interface Conversion<Kind extends "json-to-xml" | "xml-to-json"> {
  readonly message: "request" | "response"
  readonly apply: "always" | "content-type"
  readonly considerAccept: boolean
  /** Media types to convert. */
  readonly from: RegExp
  /** Media type of the result. */
  readonly to: string
  readonly job: Kind
  readonly options: BodyJob<Kind>["options"]
}

/** A step that converts a body when the Content-Type and the Accept field ask for it. A malformed body is 400 for a request, 502 for a response. */
export function conversionStep<Kind extends "json-to-xml" | "xml-to-json">(
  conversion: Conversion<Kind>,
  provision: Provision,
): Run {
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
    const input = { text: body.text(), options: conversion.options }
    const made = runBodyJob(conversion.job, input as BodyJob<Kind>, body.content.length, exchange)
    const finish = ({ content, problem: found }: BodyResult): Outcome => {
      if (content !== undefined) body.replace(content, conversion.to)
      if (found === undefined) return undefined
      const cause = `the body of the ${conversion.message} ${found}`
      return problem(conversion.message === "request" ? "invalid-request" : "bad-gateway", { cause })
    }
    return made instanceof Promise ? made.then(finish) : finish(made)
  }
}

/** Whether an Accept field allows a media type (RFC 9110 §12.5.1), including `*`. An absent field allows all. */
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
