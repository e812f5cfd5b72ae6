import type { DirectAnswer } from "./answer.ts"
import { anyText, constantHeader, headerText } from "./grammars.ts"
import { contentTypes } from "./media.ts"
import type { Policy } from "./policy.ts"
import { compileText } from "./text.ts"

/** Ends the section and answers. */
export const respond: Policy<"respond"> = (plan, provision) => {
  const { status } = plan
  const headers = plan.headers.map(({ name, value }) => {
    const text = compileText(value, provision, headerText)
    if (text.constant !== undefined) constantHeader(text.constant, name)
    return { name, text }
  })
  const body = plan.body === undefined ? undefined : compileText(plan.body.text, provision, anyText)
  const type = plan.body === undefined ? undefined : contentTypes[plan.body.media]
  return (exchange): DirectAnswer => {
    const lines: string[] = []
    for (const { name, text } of headers) lines.push(name, text.of(exchange))
    if (type !== undefined && !headers.some(({ name }) => name === "content-type"))
      lines.push("content-type", type)
    return {
      kind: "answer",
      status,
      headers: lines,
      body: body === undefined ? undefined : Buffer.from(body.of(exchange)),
    }
  }
}
