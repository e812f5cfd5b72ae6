import type { CanaryOutcome, CanarySide } from "../canary/counts.ts"
import type { PdpDecided, PdpRequested } from "../pdp/standing.ts"
import type { StepKind } from "../plan/steps.ts"
import type { Decision, MirroredRequest } from "../policies/exchange.ts"
import type { Problem, ProblemName } from "../policies/messages/answer.ts"
import type { RelationChange, TraceLine } from "../policies/ports.ts"
import { problemStatus } from "./exchange/problem.ts"
import type { Answerer } from "./explain/request-explanation.ts"

/** The version of HTTP by which a request came. */
export type Protocol = "HTTP/1.0" | "HTTP/1.1" | "HTTP/2"

/** Facts about a finished request. It contains no credentials. */
export interface Finished {
  readonly id: string
  /** Arrival by the wall clock, in milliseconds since the epoch. */
  readonly startedAtMs: number
  readonly durationMs: number
  /** Time until the head of the backend's response; undefined without one. */
  readonly upstreamMs: number | undefined
  /** Undefined: it was no valid request. */
  readonly protocol: Protocol | undefined
  readonly method: string
  /** Canonical, without query; empty when the path has no canonical form. */
  readonly path: string
  /** `METHOD /pattern` of the plan: bounded, suitable for labels. Undefined without a route. */
  readonly route: string | undefined
  readonly api: string | undefined
  readonly version: string | undefined
  readonly operation: string | undefined
  /** 0 when the client disconnected before the response. */
  readonly status: number
  /** The code of a gRPC call, from the backend or the gateway; null: it ended without one. Undefined: it is another request. */
  readonly grpcStatus: number | null | undefined
  readonly problem: ProblemName | undefined
  /** Stable identifier of the cause, more precise than the problem: `TokenExpired`. */
  readonly reason: string | undefined
  /** The cause for operators; may contain internal text. It begins with the place in the configuration when known. */
  readonly cause: string | undefined
  readonly ip: string
  /** `sub` of the token. */
  readonly user: string | undefined
  readonly subscription: string | undefined
  /** The product of the call. */
  readonly product: string | undefined
  readonly backend: string | undefined
  readonly target: string | undefined
  /** The path that the target got, without the query. Undefined where a step wrote it. */
  readonly targetPath: string | undefined
  /** The Host sent to the backend, when a step set it. */
  readonly host: string | undefined
  readonly bytesReceived: number
  readonly bytesSent: number
  readonly decision: Decision | undefined
  /** The step that responded instead of a backend, and its place. */
  readonly answeredBy: Answerer | undefined
  readonly traceparent: string | undefined
  /** Ids of the trace and of this request's span in it; undefined: requests are not traced. */
  readonly trace: { readonly traceId: string; readonly spanId: string; readonly sampled: boolean } | undefined
  /** The client disconnected, or the response was cut off before its end. */
  readonly aborted: boolean
  /** The request was sent to the backend more than once. */
  readonly retried: boolean
  /** Digest of the plan that served it; undefined: it was no valid request. */
  readonly plan: string | undefined
}

/** A request that ended while a canary runs: which plan served it, and how. `durationMs` undefined: it was a WebSocket. */
export interface CanaryRequest {
  readonly side: CanarySide
  readonly outcome: CanaryOutcome
  readonly durationMs: number | undefined
}

/** Records requests: access log and metrics. Must be fast and must not throw. */
export interface Observer {
  finished(exchange: Finished): void
  /** A WebSocket has opened: the facts until now. `finished` follows at its end. */
  opened?(exchange: Finished): void
  /** A line written by a `trace` statement. */
  traced?(line: TraceLine): void
  /** The waiting time of a step. Synchronous steps are not reported, because reading the clock costs more than most of them. */
  waited?(kind: StepKind, ms: number): void
  /** How a `grant` or `revoke` changed a store. */
  changed?(change: RelationChange): void
  /** A copy of a request has ended, or was not made. */
  mirrored?(request: MirroredRequest): void
  /** A request to a decision point has ended. */
  pdpRequested?(request: PdpRequested): void
  /** The result of a question to a decision point. */
  pdpDecided?(decision: PdpDecided): void
  /** The value of a `metric` statement. */
  counted?(name: string, labels: Readonly<Record<string, string>>, value: number): void
  /** A request has ended while a canary runs. */
  compared?(request: CanaryRequest): void
}

/** One observer that calls several, in order. */
export function observers(...all: readonly Observer[]): Observer {
  return {
    finished(exchange) {
      for (const observer of all) observer.finished(exchange)
    },
    traced(line) {
      for (const observer of all) observer.traced?.(line)
    },
    compared(request) {
      for (const observer of all) observer.compared?.(request)
    },
    counted(name, labels, value) {
      for (const observer of all) observer.counted?.(name, labels, value)
    },
    changed(change) {
      for (const observer of all) observer.changed?.(change)
    },
    mirrored(request) {
      for (const observer of all) observer.mirrored?.(request)
    },
    pdpRequested(request) {
      for (const observer of all) observer.pdpRequested?.(request)
    },
    pdpDecided(decision) {
      for (const observer of all) observer.pdpDecided?.(decision)
    },
    waited(kind, ms) {
      for (const observer of all) observer.waited?.(kind, ms)
    },
  }
}

/** Facts about bytes that were refused before they were a request; their method and path cannot be trusted. */
export function refusedRequest(id: string, found: Problem, ip: string): Finished {
  return {
    id,
    startedAtMs: Date.now(),
    durationMs: 0,
    upstreamMs: undefined,
    protocol: undefined,
    method: "",
    path: "",
    route: undefined,
    api: undefined,
    version: undefined,
    operation: undefined,
    status: problemStatus(found),
    problem: found.name,
    reason: found.reason,
    cause: found.cause,
    ip,
    user: undefined,
    subscription: undefined,
    product: undefined,
    backend: undefined,
    target: undefined,
    targetPath: undefined,
    host: undefined,
    bytesReceived: 0,
    bytesSent: 0,
    decision: undefined,
    answeredBy: undefined,
    traceparent: undefined,
    trace: undefined,
    aborted: false,
    retried: false,
    plan: undefined,
    grpcStatus: undefined,
  }
}
