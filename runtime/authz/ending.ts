import type { Reply } from "../http/server/incoming.ts"
import type { AnswerHeaders, ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { apiErrorOf } from "./api-error.ts"
import { endTrace } from "./engine-span.ts"
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
  const { status, headers: sent } = answer
  if (asked.traced !== undefined) asked.model = modelOf(answer)
  if (answer.pieces === undefined && answer.lines === undefined)
    report(api, asked, asked.outcome, status, sent)
  else
    response.once("close", () =>
      report(api, asked, response.writableFinished ? asked.outcome : "cancelled", status, sent),
    )
}

/** Sends a failure, and reports it. */
export function fail(
  api: AuthzApi,
  { asked, response, headers }: OpenRequest,
  error: unknown,
  form: FailureForm = "plain",
): void {
  sendError(response, error, api, headers, form)
  report(api, asked, outcomeOfError(error), apiErrorOf(error)?.status ?? 500)
}

/** The model that answered is in the fields of the response. */
export function modelOf({ headers }: ApiResponse): string | undefined {
  const at = headers?.indexOf("Openfga-Authorization-Model-Id") ?? -1
  return at === -1 ? undefined : headers?.[at + 1]
}

/** Reports a request that has got its response. `status`: that of HTTP, also for a call of gRPC, where it is the one that the API has over HTTP. */
export function report(
  { observer }: AuthzApi,
  asked: ApiRequest,
  outcome: EngineOutcome,
  status: number,
  sent?: AnswerHeaders,
): void {
  const { route, store, work, question, startedMs } = asked
  endTrace(asked, outcome, status)
  observer?.ended({
    method: asked.name,
    store,
    outcome,
    durationMs: route?.waits === true ? undefined : performance.now() - startedMs,
    work,
    question,
    trace: asked.traced?.trace,
    origin: asked,
    sent,
  })
}
