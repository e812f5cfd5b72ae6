import { problem } from "./answer.ts"
import { anyText } from "./grammars.ts"
import { forgetUnchanged, messageOf } from "./message.ts"
import type { Policy } from "./policy.ts"
import { compileText } from "./text.ts"

/** What replacing makes of a body may be this large. */
const grownBytesMax = 67_108_864

/** Replaces every occurrence of a text in a body. What is not found leaves the body as it came. */
export const findReplace: Policy<"find-replace"> = (plan, provision) => {
  const message = messageOf(plan.message)
  provision.need(message.needs)
  const from = compileText(plan.from, provision, anyText)
  const to = compileText(plan.to, provision, anyText)
  return (exchange) => {
    const body = message.body(exchange)
    const sought = Buffer.from(from.of(exchange))
    if (!body.present && plan.message === "response") forgetUnchanged(exchange)
    if (sought.length === 0 || !body.present || !body.content.includes(sought)) return undefined
    const put = Buffer.from(to.of(exchange))
    // Bytes, not characters: a text in UTF-8 is found in it wherever it stands, and other encodings are left alone.
    const pieces = body.content.toString("latin1").split(sought.toString("latin1"))
    const length = body.content.length + (pieces.length - 1) * (put.length - sought.length)
    if (length > grownBytesMax)
      return problem("internal-error", { cause: `the replaced body would have ${length} bytes` })
    body.replace(Buffer.from(pieces.join(put.toString("latin1")), "latin1"), null)
    return undefined
  }
}
