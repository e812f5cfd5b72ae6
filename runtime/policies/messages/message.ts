import { fieldsOfBody } from "../../plan/places.ts"
import { type Exchange, type MessageBody, type Needs, requestBody, responseBody } from "../exchange.ts"
import { type Problem, problem } from "./answer.ts"
import type { HeaderList } from "./header-list.ts"

/** One of the two messages of an exchange, for steps that work on either. */
export interface Message {
  readonly needs: Needs
  headers(exchange: Exchange): HeaderList
  body(exchange: Exchange): MessageBody
}

/** The message a step is about. The response is there in outbound and on-error; elsewhere asking for it is a bug of the plan. */
export function messageOf(name: "request" | "response"): Message {
  return name === "request" ? request : response
}

/** An answer to HEAD has no body to change, but says how long the unchanged one is, how it is coded, and which it is. */
export function forgetUnchanged({ method, response }: Exchange): void {
  if (method !== "HEAD") return
  for (const name of fieldsOfBody.response) response?.headers.remove(name)
}

/** For steps that look for something in an answer: part of one (206), which nobody asked the backend for, may begin or end inside of it. */
export function partProblem({ response }: Exchange): Problem | undefined {
  if (response?.status !== 206) return undefined
  return problem("bad-gateway", { cause: "the backend sent part of an answer, and was asked for all of it" })
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
  if (found === undefined) throw new Error("the answer is used before there is one")
  return found
}
