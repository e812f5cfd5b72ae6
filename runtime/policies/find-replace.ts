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
    if (sought.length === 0 || !body.present) return undefined
    const count = occurrences(body.content, sought)
    if (count === 0) return undefined
    const put = Buffer.from(to.of(exchange))
    const length = body.content.length + count * (put.length - sought.length)
    if (length > grownBytesMax)
      return problem("internal-error", { cause: `the replaced body would have ${length} bytes` })
    body.replace(replaced(body.content, sought, put, Buffer.allocUnsafe(length)), null)
    return undefined
  }
}

// Bytes, not characters: a text in UTF-8 is found in it wherever it stands, and other encodings are left alone.
function occurrences(content: Buffer, sought: Buffer): number {
  let count = 0
  for (let at = content.indexOf(sought); at !== -1; at = content.indexOf(sought, at + sought.length)) count++
  return count
}

/** Fills `into`, which is as long as the result. */
function replaced(content: Buffer, sought: Buffer, put: Buffer, into: Buffer): Buffer {
  let from = 0
  let to = 0
  for (let at = content.indexOf(sought); at !== -1; at = content.indexOf(sought, from)) {
    to += content.copy(into, to, from, at)
    to += put.copy(into, to)
    from = at + sought.length
  }
  content.copy(into, to, from)
  return into
}
