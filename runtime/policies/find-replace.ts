import { positionOf } from "../plan/text-search.ts"
import { problem } from "./answer.ts"
import { anyText } from "./grammars.ts"
import { forgetUnchanged, messageOf, partProblem } from "./message.ts"
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
  const isWritten = typeof plan.from === "string"
  return (exchange) => {
    const body = message.body(exchange)
    const sought = Buffer.from(from.of(exchange))
    if (!body.present && plan.message === "response") forgetUnchanged(exchange)
    if (sought.length === 0 || !body.present) return undefined
    const part = plan.message === "response" ? partProblem(exchange) : undefined
    if (part !== undefined) return part
    const find = isWritten ? native(body.content, sought) : linear(body.content, sought)
    const count = occurrences(find, sought.length)
    if (count === 0) return undefined
    const put = Buffer.from(to.of(exchange))
    const length = body.content.length + count * (put.length - sought.length)
    if (length > grownBytesMax)
      return problem("internal-error", { cause: `the replaced body would have ${length} bytes` })
    const into = Buffer.allocUnsafe(length)
    fill(into, body.content, { find, cut: sought.length, put })
    body.replace(into, null)
    return undefined
  }
}

/** Where the next one is from a place on; -1 where there is none. */
type Find = (from: number) => number

// Bytes, not characters: a text in UTF-8 is found in it wherever it stands, and other encodings are left alone.
function native(content: Buffer, sought: Buffer): Find {
  return (from) => content.indexOf(sought, from)
}

/** Of what a caller may bring: the other one takes seconds for bodies that are made for it. */
function linear(content: Buffer, sought: Buffer): Find {
  const [text, part] = [content.toString("latin1"), sought.toString("latin1")]
  return (from) => positionOf(text, part, from)
}

function occurrences(find: Find, length: number): number {
  let count = 0
  for (let at = find(0); at !== -1; at = find(at + length)) count++
  return count
}

/** Fills `into`, which is as long as the result: `put` in the place of `cut` bytes. */
function fill(
  into: Buffer,
  content: Buffer,
  { find, cut, put }: { readonly find: Find; readonly cut: number; readonly put: Buffer },
): void {
  let from = 0
  let to = 0
  for (let at = find(0); at !== -1; at = find(from)) {
    to += content.copy(into, to, from, at)
    to += put.copy(into, to)
    from = at + cut
  }
  content.copy(into, to, from)
}
