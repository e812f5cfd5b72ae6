import type { IncomingHttpHeaders } from "node:http"
import type { QuestionWork } from "../check/counts.ts"
import { CheckError, UndecidedCheck } from "../check/ports.ts"
import { type ApiErrorCode, apiErrorOf } from "./api-error.ts"

/**
 * How a request or a check ended. `undecided`: a condition has no result. `too_complex` (depth or steps), `exhausted` (memory, or too many
 * long questions) and `deadline` are limits; `truncated` is a list that a limit cut. `refused`: the caller may not. `invalid`: any other
 * mistake of the client. `error`: a fault of ours.
 */
export type EngineOutcome =
  | "allowed"
  | "denied"
  | "ok"
  | "truncated"
  | "undecided"
  | "invalid"
  | "refused"
  | "too_complex"
  | "exhausted"
  | "deadline"
  | "cancelled"
  | "unavailable"
  | "error"

/** What a request asks about. Absent: it names none, or several. `type`: the type of the listed objects or users. */
export interface AskedAbout {
  readonly user?: string | undefined
  readonly relation?: string | undefined
  readonly object?: string | undefined
  readonly type?: string | undefined
}

/** Where a request came from: over the API with its headers, or from the gateway with the id of its request. */
export interface RequestOrigin {
  readonly headers?: IncomingHttpHeaders | undefined
  readonly caller?: { readonly name: string } | undefined
  readonly requestId?: string | undefined
}

/** A request that has got its response. */
export interface EndedRequest {
  /** Name of its route; `none` for an unknown path, and for a request that was refused before its path was looked up. */
  readonly method: string
  /** Id or name of the store, as the client sent it; empty for a request without a store. */
  readonly store: string
  readonly outcome: EngineOutcome
  /** From the head of the request to the response; undefined for requests that wait for changes. */
  readonly durationMs: number | undefined
  readonly work: QuestionWork | undefined
  readonly question: AskedAbout | undefined
  /** Ids of its trace and its span; absent: it is not traced. */
  readonly trace?:
    | { readonly traceId: string; readonly spanId: string; readonly sampled: boolean }
    | undefined
  readonly origin?: RequestOrigin | undefined
  /** Headers of the response: names and values alternate. */
  readonly sent?: readonly string[] | undefined
  /** Of the answer, when it is not among the headers. */
  readonly revision?: number | undefined
}

/** One of the checks of a batch, with its result. */
export interface DecidedItem {
  readonly question: AskedAbout
  readonly outcome: EngineOutcome
}

/** Receives every request after its response was handed over, for metrics and logs. It must not throw. */
export interface ApiObserver {
  ended(request: EndedRequest): void
  /** The checks of a batch, in a store as the client sent it. */
  decided(store: string, items: readonly DecidedItem[], origin?: RequestOrigin): void
}

/** Reports the checks of a batch. */
export function observeBatch(
  { observer }: { readonly observer: ApiObserver | undefined },
  { store, origin }: { readonly store: string; readonly origin?: RequestOrigin | undefined },
  items: readonly AskedAbout[],
  results: readonly (CheckError | { readonly allowed: boolean })[],
): void {
  if (observer === undefined) return
  const decided = items.map((question, at) => ({ question, outcome: outcomeOf(results[at]) }))
  observer.decided(store, decided, origin)
}

function outcomeOf(result: CheckError | { readonly allowed: boolean } | undefined): EngineOutcome {
  if (result === undefined || result instanceof CheckError) return outcomeOfError(result)
  return result.allowed ? "allowed" : "denied"
}

const outcomeOfCode: Partial<Record<ApiErrorCode, EngineOutcome>> = {
  authorization_model_resolution_too_complex: "too_complex",
  deadline_exceeded: "deadline",
  cancelled: "cancelled",
  unavailable: "unavailable",
  internal_error: "error",
}

/** How a failed request or check ended. */
export function outcomeOfError(error: unknown): EngineOutcome {
  if (error instanceof UndecidedCheck) return "undecided"
  if (error instanceof CheckError && error.code === "resource_exhausted") return "exhausted"
  const known = apiErrorOf(error)
  if (known === undefined) return "error"
  if ([401, 403, 421].includes(known.status)) return "refused"
  return outcomeOfCode[known.code] ?? "invalid"
}
