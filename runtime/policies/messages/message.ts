import { fieldsOfBody } from "../../plan/places.ts"
import { type Exchange, type MessageBody, type Needs, requestBody, responseBody } from "../exchange.ts"
import { type Problem, problem } from "./answer.ts"
import type { HeaderList } from "./header-list.ts"

/** The request or the response of an exchange, for steps that work on either. */
export interface Message {
  readonly needs: Needs
  headers(exchange: Exchange): HeaderList
  body(exchange: Exchange): MessageBody
}

/** The message that a step works on. The response exists in outbound and on-error; using it elsewhere is a bug in the plan. */
export function messageOf(name: "request" | "response"): Message {
  return name === "request" ? request : response
}

/** The response to HEAD has no body to change, but its fields describe the unchanged body: removes them. */
export function forgetUnchanged({ method, response }: Exchange): void {
  if (method !== "HEAD") return
  for (const name of fieldsOfBody.response) response?.headers.remove(name)
}

/** For steps that search a response: a partial response (206), which the gateway did not request, may begin or end inside the text that is searched for. */
export function partProblem({ response }: Exchange): Problem | undefined {
  if (response?.status !== 206) return undefined
  return problem("bad-gateway", {
    cause: "the backend sent a partial response to a request for the complete one",
  })
}

const request: Message = {
  needs: requestBody,
  headers: (exchange) => exchange.headers,
  body: (exchange) => exchange.requestBody,
}

const response: Message = {
  needs: responseBody,
  headers: (exchange) => answered(exchange).headers,
  body: (exchange) => answered(exchange).body,
}

function answered({ response: found }: Exchange): NonNullable<Exchange["response"]> {
  if (found === undefined) throw new Error("the response is used before there is one")
  return found
}
