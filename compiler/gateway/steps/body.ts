import type { BodyContent } from "../../../runtime/plan/step-values.ts"
import { type Bound, headSpan, mentions } from "../bind/bound.ts"
import { messageAt } from "../lower/header.ts"
import { warnOfRawValues } from "../lower/raw-values.ts"
import type { Lowered, StepContext } from "../lower/step.ts"
import { lowerConversion } from "./conversion.ts"
import { lowerLiquid } from "./liquid.ts"

/** Media types of the words that stand for some; JSON is UTF-8 by definition (RFC 8259 §8.1) and has no charset. */
const mediaOf: Readonly<Record<string, string>> = {
  json: "application/json",
  text: "text/plain; charset=utf-8",
  xml: "application/xml; charset=utf-8",
}

/** The content of a body statement: `json|text|xml|"media/type"`, perhaps `liquid` or `xml`, and a text or expression. */
export function lowerContent(
  bound: Bound,
  context: StepContext,
): { media: string | null; content: BodyContent } | undefined {
  const { texts, expressions, place } = context
  const word = bound.args.value<string>("media")
  const written = bound.args.value<string>("type")
  const media = written ?? (word === undefined ? null : (mediaOf[word] ?? null))
  const template = bound.args.text("template")
  if (template !== undefined) {
    const liquid = lowerLiquid(template, context)
    return liquid === undefined ? undefined : { media, content: { liquid } }
  }
  const markup = bound.args.text("markup")
  if (markup !== undefined) {
    const text = texts.lowerXml(markup, place)
    return text === undefined ? undefined : { media: media ?? (mediaOf["xml"] as string), content: { text } }
  }
  const content = bound.args.cel("expression") ?? bound.args.text("text")
  if (content === undefined) return undefined
  const isJson = word === "json" || (written !== undefined && /[/+]json\b/i.test(written))
  if (content.kind === "cel" && word !== "json" && word !== "text") {
    const value = expressions.lower(content, place)
    // What is no text is written as JSON, which escapes.
    if (value === undefined || !isJson || value.type === "string") warnOfRawValues(content, media, context)
    return value === undefined ? undefined : { media, content: { value } }
  }
  if (!isJson) warnOfRawValues(content, media, context)
  const text = isJson ? texts.lowerJson(content, place) : texts.lowerBody(content, place)
  return text === undefined ? undefined : { media, content: { text } }
}

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
