import { CheckError, UndecidedCheck } from "../../check/ports.ts"
import { isNamedOnce, withoutItems } from "../bodies/json-splice.ts"
import { type Exchange, responseBody } from "../exchange.ts"
import { type Problem, problem } from "../messages/answer.ts"
import { forgetUnchanged } from "../messages/message.ts"
import type { AccessAnswers, AccessRequest, Outcome, Policy } from "../policy.ts"
import { authorizerOf, compileQuestion, type Question, questionFailure } from "./question.ts"

/** More items than any page has; asking for each would hold the request for long. */
const itemsMax = 10_000

/**
 * Leaves in a JSON answer what the caller may see, in its order and as it is written (not every number of JSON is one of JavaScript): one batch at one revision. What cannot be asked or answered is no answer to the client
 * either; nothing goes out unfiltered.
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
    if (items === undefined) return unfit(`the answer has no array at \`${plan.items}\``)
    if (items.length > itemsMax)
      return unfit(`the answer has ${items.length} items, ${itemsMax} can be filtered`)
    const text = response.body.text()
    if (!isNamedOnce(text, path)) return unfit(`the answer has two members for \`${plan.items}\``)
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

/** Which items may be seen. */
function keptOf(count: number, results: AccessAnswers["results"]): boolean[] | Problem {
  const kept: boolean[] = []
  for (let index = 0; index < count; index += 1) {
    const result = results[index]
    // What hangs on a condition without an outcome is no yes; any other error leaves it open what may be seen.
    const undecided = result instanceof UndecidedCheck
    if (!undecided && (result === undefined || result instanceof CheckError)) return questionFailure(result)
    kept.push(!undecided && result.allowed === true)
  }
  return kept
}

/** The media type of what is UTF-8 now; null where it says nothing else. */
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
