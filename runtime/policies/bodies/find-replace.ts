import { problem } from "../messages/answer.ts"
import { forgetUnchanged, messageOf, partProblem } from "../messages/message.ts"
import type { Outcome, Policy } from "../policy.ts"
import { anyText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import { type BodyResult, runBodyJob } from "./body-threads.ts"
import type { Replacement } from "./find-bytes.ts"

/** Replaces every occurrence of a text in a body. A body without an occurrence stays as it is. */
export const findReplace: Policy<"find-replace"> = (plan, provision) => {
  const message = messageOf(plan.message)
  provision.need(message.needs)
  const from = compileText(plan.from, provision, anyText)
  const to = compileText(plan.to, provision, anyText)
  const isForeign = typeof plan.from !== "string"
  return (exchange) => {
    const body = message.body(exchange)
    const sought = Buffer.from(from.of(exchange))
    if (!body.present && plan.message === "response") forgetUnchanged(exchange)
    if (sought.length === 0 || !body.present) return undefined
    const part = plan.message === "response" ? partProblem(exchange) : undefined
    if (part !== undefined) return part
    // A replacement that cannot be evaluated is an error only when the text occurs.
    const put = attempt(() => Buffer.from(to.of(exchange)))
    const asked: Replacement = { content: body.content, sought, put: put.value, isForeign }
    const made = runBodyJob("replace", asked, body.content.length, exchange)
    const finish = (result: BodyResult): Outcome => {
      if (result.isFound) put.check()
      if (result.problem !== undefined)
        return problem("internal-error", { cause: `the body of the ${plan.message} ${result.problem}` })
      if (result.content !== undefined) body.replace(result.content, null)
      return undefined
    }
    return made instanceof Promise ? made.then(finish) : finish(made)
  }
}

/** The value, or undefined when `make` failed; `check` then throws the error. */
function attempt<Value>(make: () => Value): { readonly value: Value | undefined; check(): void } {
  try {
    return { value: make(), check: () => undefined }
  } catch (error) {
    return {
      value: undefined,
      check: () => {
        throw error
      },
    }
  }
}
