import type { PdpDecided, PdpRequested } from "../pdp/standing.ts"
import type { StepKind } from "../plan/steps.ts"
import type { Decision } from "../policies/exchange.ts"
import type { Problem, ProblemName } from "../policies/messages/answer.ts"
import type { RelationChange, TraceLine } from "../policies/ports.ts"
import { problemStatus } from "./exchange/problem.ts"
import type { Answerer } from "./explain/request-explanation.ts"

/** What there is to say about a request when it is over. Nothing in it is a credential. */
export interface Finished {
  readonly id: string
  /** Wall clock when it arrived, in milliseconds. */
  readonly startedAtMs: number
  readonly durationMs: number
  /** Until the backend's head was there; undefined when it did not come to that. */
  readonly upstreamMs: number | undefined
  readonly method: string
  /** Canonical, without query; empty when the path has no canonical form. */
  readonly path: string
  /** `METHOD /pattern` of the plan: bounded, fit for labels. Undefined when no route was found. */
  readonly route: string | undefined
  readonly api: string | undefined
  readonly version: string | undefined
  readonly operation: string | undefined
  /** 0 when the client left before there was an answer. */
  readonly status: number
  readonly problem: ProblemName | undefined
  /** Stable word for why, finer than the problem, where there is one: `TokenExpired`. */
  readonly reason: string | undefined
  /** Why, for operators; may hold internal text. With the place in the text of the configuration where one is known. */
  readonly cause: string | undefined
  readonly ip: string
  /** `sub` of the token. */
  readonly user: string | undefined
  readonly subscription: string | undefined
  /** The product the call was one of. */
  readonly product: string | undefined
  readonly backend: string | undefined
  readonly target: string | undefined
  /** The Host the backend was told, where a step decided it. */
  readonly host: string | undefined
  readonly bytesReceived: number
  readonly bytesSent: number
  readonly decision: Decision | undefined
  /** The step that answered instead of a backend, and where it stands. */
  readonly answeredBy: Answerer | undefined
  readonly traceparent: string | undefined
  /** The client left, or the answer was cut short, before its end. */
  readonly aborted: boolean
  /** The request was sent to the backend a second time over a new connection. */
  readonly retried: boolean
}

/** Takes note of requests: access log and metrics. Must not throw and must not be slow. */
export interface Observer {
  finished(exchange: Finished): void
  /** A line a `trace` statement writes. */
  traced?(line: TraceLine): void
  /** A step was waited for. Steps that answer at once are not told: looking at the clock would cost more than most of them. */
  waited?(kind: StepKind, ms: number): void
  /** What a `grant` or `revoke` did to the relations of a store. */
  changed?(change: RelationChange): void
  /** A request to a decision point is over. */
  pdpRequested?(request: PdpRequested): void
  /** What came of a question to a decision point. */
  pdpDecided?(decision: PdpDecided): void
  /** What a `metric` statement counts. */
  counted?(name: string, labels: Readonly<Record<string, string>>, value: number): void
}

/** One observer that tells several, in order. */
export function observers(...all: readonly Observer[]): Observer {
  return {
    finished(exchange) {
      for (const observer of all) observer.finished(exchange)
    },
    traced(line) {
      for (const observer of all) observer.traced?.(line)
    },
    counted(name, labels, value) {
      for (const observer of all) observer.counted?.(name, labels, value)
    },
    changed(change) {
      for (const observer of all) observer.changed?.(change)
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

/** What there is to say of bytes that were refused before they were a request: neither method nor path can be believed. */
export function refusedRequest(id: string, found: Problem, ip: string): Finished {
  return {
    id,
    startedAtMs: Date.now(),
    durationMs: 0,
    upstreamMs: undefined,
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
    host: undefined,
    bytesReceived: 0,
    bytesSent: 0,
    decision: undefined,
    answeredBy: undefined,
    traceparent: undefined,
    aborted: false,
    retried: false,
  }
}
