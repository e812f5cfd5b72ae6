import { connectionFields } from "../../plan/http-syntax.ts"
import { compileContent } from "../bodies/body-content.ts"
import type { StoredResponse } from "../exchange.ts"
import type { Policy } from "../policy.ts"
import { headerText } from "../values/grammars.ts"
import { compileText } from "../values/text.ts"
import type { DirectAnswer } from "./answer.ts"
import { problem } from "./answer.ts"
import { compileHeaderLine } from "./header-line.ts"
import { HeaderList } from "./header-list.ts"
import { compileStatus } from "./set-status.ts"
import { storedResponse } from "./stored-response.ts"

/**
 * Ends the section with a response; it starts from a response in a variable when the plan names one. When that variable is not set, the response
 * comes from the statement alone, if it has a status: published documents name a variable that no policy sets (`existing response variable`).
 */
export const respond: Policy<"respond"> = (plan, provision) => {
  const { from, media } = plan
  const status = plan.status === undefined ? undefined : compileStatus(plan.status, provision)
  const reason = plan.reason === undefined ? undefined : compileText(plan.reason, provision, headerText)
  const lines = plan.headers.map((line) => compileHeaderLine(line, provision))
  const body = plan.body === undefined ? undefined : compileContent(plan.body, "request", provision)
  return (exchange) => {
    const begin = from === undefined ? undefined : storedResponse(exchange, from)
    if (from !== undefined && begin === undefined && status === undefined)
      return problem("internal-error", { cause: `the variable \`${from}\` contains no response` })
    const headers = new HeaderList(begin === undefined ? [] : keptFields(begin))
    if (media !== null && body !== undefined) headers.set("content-type", media)
    for (const line of lines) line(headers, exchange)
    const answer = (content: Buffer | undefined): DirectAnswer => ({
      kind: "answer",
      status: status?.(exchange) ?? begin?.status ?? 200,
      reason: reason?.of(exchange) ?? (begin?.reason || undefined),
      headers: headers.flat,
      body: content,
    })
    const made = body === undefined ? begin?.body : body(exchange)
    return made instanceof Promise ? made.then(answer) : answer(made)
  }
}

/** Removes the fields of the connection, and the content coding, because the body is decoded. */
function keptFields({ headers }: StoredResponse): string[] {
  const kept: string[] = []
  for (let at = 0; at < headers.flat.length; at += 2) {
    const name = headers.flat[at] as string
    if (!connectionFields.has(name) && name !== "content-encoding")
      kept.push(name, headers.flat[at + 1] as string)
  }
  return kept
}
