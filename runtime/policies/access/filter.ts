import { CheckError, UndecidedCheck } from "../../check/ports.ts"
import { isNamedOnce, withoutItems } from "../bodies/json-splice.ts"
import { type Exchange, responseBody } from "../exchange.ts"
import { type Problem, problem } from "../messages/answer.ts"
import { forgetUnchanged } from "../messages/message.ts"
import type { AccessAnswers, AccessRequest, Outcome, Policy } from "../policy.ts"
import { authorizerOf, compileQuestion, type Question, questionFailure } from "./question.ts"

/** No page has more items than this; checking each of them would delay the response too long. */
const itemsMax = 10_000

/**
 * Removes the items that the caller may not see from a JSON list. Order and spelling stay, because JavaScript cannot represent every JSON number. All
 * items are checked in one batch at one revision. When a check cannot be made or fails, the client gets an error: an unfiltered list never goes out.
 */
export const filter: Policy<"filter"> = (plan, provision) => {
  const path = plan.items === "" ? [] : plan.items.split(".")
  const { authorizer, name } = authorizerOf(plan, provision)
  const question = compileQuestion(plan, provision)
  provision.need(responseBody)
  return (exchange) => {
    const { response } = exchange
    if (response === undefined || response.status < 200 || response.status > 299) return undefined
    if (!response.body.present) {
      forgetUnchanged(exchange)
      return undefined
    }
    const json = response.body.json()
    const items = arrayAt(json, path)
    if (items === undefined) return unfit(`the response has no array at \`${plan.items}\``)
    if (items.length > itemsMax)
      return unfit(`the response has ${items.length} items; the maximum is ${itemsMax}`)
    const text = response.body.text()
    if (!isNamedOnce(text, path)) return unfit(`the response has two members for \`${plan.items}\``)
    if (items.length === 0) return undefined
    const requests = questionsOf(question, exchange, items)
    if ("kind" in requests) return requests
    const finish = ({ results }: AccessAnswers): Outcome => {
      const kept = keptOf(items.length, results)
      if (!Array.isArray(kept)) return kept
      if (!kept.includes(false)) return undefined
      const type = response.headers.get("content-type")
      response.body.replace(Buffer.from(withoutItems(text, path, kept)), utf8Type(type))
      return undefined
    }
    try {
      const answer = authorizer.batch(name, requests, exchange)
      return answer instanceof Promise ? answer.then(finish, questionFailure) : finish(answer)
    } catch (error) {
      return questionFailure(error)
    }
  }
}

/** A question for each item; `item` is a variable only meanwhile. */
function questionsOf(
  question: Question,
  exchange: Exchange,
  items: readonly unknown[],
): AccessRequest[] | Problem {
  const bindings = exchange.bindings() as Record<string, unknown>
  const requests: AccessRequest[] = []
  try {
    for (const item of items) {
      bindings["item"] = item
      const request = question(exchange)
      if ("kind" in request) return request
      requests.push(request)
    }
  } finally {
    delete bindings["item"]
  }
  return requests
}

/** Which items the caller may see. */
function keptOf(count: number, results: AccessAnswers["results"]): boolean[] | Problem {
  const kept: boolean[] = []
  for (let index = 0; index < count; index += 1) {
    const result = results[index]
    // A check that lacks the value of a condition counts as no. After any other error it is not known what the caller may see, so the request fails.
    const undecided = result instanceof UndecidedCheck
    if (!undecided && (result === undefined || result instanceof CheckError)) return questionFailure(result)
    kept.push(!undecided && result.allowed === true)
  }
  return kept
}

/** The media type for a body that is now UTF-8; null when the type does not declare another charset. */
function utf8Type(type: string | undefined): string | null {
  const other = type === undefined ? null : /;\s*charset\s*=\s*"?(?!utf-?8\b)[^";]*"?/i.exec(type)
  return type === undefined || other === null ? null : type.replace(other[0], "; charset=utf-8")
}

function arrayAt(json: unknown, path: readonly string[]): readonly unknown[] | undefined {
  let node = json
  for (const name of path) {
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, name)) return undefined
    node = (node as Record<string, unknown>)[name]
  }
  return Array.isArray(node) ? node : undefined
}

function unfit(cause: string): Problem {
  return problem("bad-gateway", { cause })
}
