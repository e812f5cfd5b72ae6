import type { Reply } from "../http/server/incoming.ts"
import type { AnswerHeaders, ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { type EngineOutcome, outcomeOfError } from "./observed.ts"
import type { ApiRequest } from "./route.ts"
import { type FailureForm, sendAnswer, sendError } from "./send-answer.ts"

/** A request with its response; `headers` are those of the listener. */
export interface OpenRequest {
  readonly asked: ApiRequest
  readonly response: Reply
  readonly headers: AnswerHeaders
}

/** Sends the response of a request, and reports it. */
export function finish(api: AuthzApi, { asked, response, headers }: OpenRequest, answer: ApiResponse): void {
  sendAnswer(response, answer, headers)
  const { observer } = api
  if (observer === undefined) return
  if (answer.pieces === undefined && answer.lines === undefined) report(api, asked, asked.outcome)
  else
    response.once("close", () => report(api, asked, response.writableFinished ? asked.outcome : "cancelled"))
}

/** Sends a failure, and reports it. */
export function fail(
  api: AuthzApi,
  { asked, response, headers }: OpenRequest,
  error: unknown,
  form: FailureForm = "plain",
): void {
  sendError(response, error, api, headers, form)
  if (api.observer !== undefined) report(api, asked, outcomeOfError(error))
}

function report({ observer }: AuthzApi, asked: ApiRequest, outcome: EngineOutcome): void {
  const { route, store, work, question, startedMs } = asked
  observer?.ended({
    method: route?.name ?? "none",
    store,
    outcome,
    durationMs: route?.waits === true ? undefined : performance.now() - startedMs,
    work,
    question,
  })
}
