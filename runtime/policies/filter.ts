import { CheckError, type CheckRequest, UndecidedCheck } from "../check/ports.ts"
import type { BatchCheckAnswer } from "../check/questions.ts"
import { type Problem, problem } from "./answer.ts"
import { type Exchange, responseBody } from "./exchange.ts"
import type { Outcome, Policy } from "./policy.ts"
import { compileQuestion, type Question, questionFailure } from "./question.ts"

/** More items than any page has; asking for each would hold the request for long. */
const itemsMax = 10_000

/**
 * Leaves in a JSON answer what the caller may see, in its order: one batch at one revision. What cannot be asked or answered is no answer to the client
 * either; nothing goes out unfiltered.
 */
export const filter: Policy<"filter"> = (plan, provision) => {
  const { store } = plan
  const path = plan.items === "" ? [] : plan.items.split(".")
  const authorizer = provision.authorizer()
  const question = compileQuestion(plan, provision)
  provision.need(responseBody)
  return (exchange) => {
    const { response } = exchange
    if (response === undefined || response.status < 200 || response.status > 299) return undefined
    if (!response.body.present) {
      // An answer to HEAD has no body, but says how long the unfiltered one is.
      if (exchange.method === "HEAD") response.headers.remove("content-length")
      return undefined
    }
    const json = response.body.json()
    const items = arrayAt(json, path)
    if (items === undefined) return unfit(`the answer has no array at \`${plan.items}\``)
    if (items.length > itemsMax)
      return unfit(`the answer has ${items.length} items, ${itemsMax} can be filtered`)
    if (items.length === 0) return undefined
    const requests = questionsOf(question, exchange, items)
    if ("kind" in requests) return requests
    const finish = (answer: BatchCheckAnswer): Outcome => keep(exchange, json, path, items, answer)
    try {
      const answer = authorizer.batch(store, requests)
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
): CheckRequest[] | Problem {
  const bindings = exchange.bindings() as Record<string, unknown>
  const requests: CheckRequest[] = []
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

function keep(
  exchange: Exchange,
  json: unknown,
  path: readonly string[],
  items: readonly unknown[],
  { results }: BatchCheckAnswer,
): Outcome {
  const kept: unknown[] = []
  for (const [index, item] of items.entries()) {
    const result = results[index]
    // What hangs on a condition without an outcome is no yes; any other error leaves it open what may be seen.
    if (result instanceof UndecidedCheck) continue
    if (result === undefined || result instanceof CheckError) return questionFailure(result)
    if (result.allowed === true) kept.push(item)
  }
  if (kept.length === items.length) return undefined
  const whole = put(json, path, kept, items.length)
  exchange.response?.body.replace(Buffer.from(JSON.stringify(whole)), null)
  return undefined
}

function arrayAt(json: unknown, path: readonly string[]): readonly unknown[] | undefined {
  let node = json
  for (const name of path) {
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, name)) return undefined
    node = (node as Record<string, unknown>)[name]
  }
  return Array.isArray(node) ? node : undefined
}

/** Members beside the array that tell how many there are. */
const counts: ReadonlySet<string> = new Set(["count", "total", "totalcount", "size", "length"])

/** The value with the array replaced. A count beside it that was the array's length is the new one; a larger one, which nobody can correct, is left out. */
function put(json: unknown, path: readonly string[], kept: readonly unknown[], before: number): unknown {
  const [name, ...rest] = path
  if (name === undefined) return kept
  const object: Record<string, unknown> = { ...(json as Record<string, unknown>) }
  object[name] = put(object[name], rest, kept, before)
  if (rest.length > 0) return object
  for (const [key, value] of Object.entries(object)) {
    if (typeof value !== "number" || !counts.has(key.toLowerCase().replaceAll("_", ""))) continue
    if (value === before) object[key] = kept.length
    else delete object[key]
  }
  return object
}

function unfit(cause: string): Problem {
  return problem("bad-gateway", { cause })
}
