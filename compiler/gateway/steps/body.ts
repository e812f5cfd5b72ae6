import { type Bound, headSpan, mentions } from "../bind/bound.ts"
import { lowerContent } from "../lower/content.ts"
import { messageAt } from "../lower/header.ts"
import { warnOfRawValues } from "../lower/raw-values.ts"
import type { Lowered, StepContext } from "../lower/step.ts"
import { lowerConversion } from "./conversion.ts"

/** `body set …`, `body replace "a" with "b"`, `body json-to-xml|xml-to-json { … }` */
export function lowerBody(bound: Bound, context: StepContext): Lowered | undefined {
  const [what] = bound.statement.args
  const { steps, texts, place } = context
  const message = messageAt(place)
  const at = headSpan(bound.statement)
  if (what?.kind !== "word") return undefined
  if (what.text === "replace") {
    const [fromAt, toAt] = [bound.args.text("from"), bound.args.text("to")]
    if (fromAt === undefined || toAt === undefined) return undefined
    warnOfRawValues(toAt, null, context)
    const from = texts.lower(fromAt, place)
    const to = texts.lower(toAt, place)
    if (from === undefined || to === undefined) return undefined
    return steps.add({ kind: "find-replace", message, from, to }, at)
  }
  if (what.text === "mask-urls")
    return steps.add({ kind: "mask-urls", message, headers: mentions(bound.block, "headers") }, at)
  if (what.text === "jsonp") {
    const parameter = bound.args.text("callback")
    const callback = parameter === undefined ? undefined : texts.lower(parameter, place)
    return callback === undefined ? undefined : steps.add({ kind: "jsonp", callback }, at)
  }
  if (what.text !== "set") return steps.add(lowerConversion(what.text, message, bound), at)
  const content = lowerContent(bound, context)
  return content === undefined ? undefined : steps.add({ kind: "set-body", message, ...content }, at)
}
