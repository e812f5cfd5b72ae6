import type { Text } from "../../../../runtime/plan/text.ts"
import { type Bound, headSpan } from "../../bind/bound.ts"
import type { LowerStep, StepContext } from "../step.ts"

/** The content of a body statement: `json|text` and a text or expression. */
export function lowerContent(
  bound: Bound,
  { texts, place }: StepContext,
): { media: "json" | "text"; text: Text } | undefined {
  const media = bound.args.value<"json" | "text">("media")
  const content = bound.args.cel("expression") ?? bound.args.text("text")
  if (media === undefined || content === undefined) return undefined
  const text = media === "json" ? texts.lowerJson(content, place) : texts.lowerBody(content, place)
  return text === undefined ? undefined : { media, text }
}

/** `body set json|text …` */
export const lowerBody: LowerStep = (bound, context) => {
  const content = lowerContent(bound, context)
  if (content === undefined) return undefined
  const message = context.place.section === "inbound" ? "request" : "response"
  return context.steps.add(
    { kind: "set-body", message, media: content.media, body: content.text },
    headSpan(bound.statement),
  )
}
