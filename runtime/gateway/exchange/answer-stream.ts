import type { Route } from "../../plan/resources.ts"
import type { Clock } from "../../policies/clock.ts"
import type { Problem } from "../../policies/messages/answer.ts"
import type { Deadlines } from "../backends/deadlines.ts"
import type { Patience } from "../backends/patience.ts"

/** The connection that a response comes from. */
export interface AnswerSource {
  /** Continues after a `push` that returned false. */
  resume(): void
  /** Cuts the response off, because the rest is not needed. */
  cut(): void
}

/** The part of a response after its head. */
export interface AnswerStream {
  /** Sends status, fields and the rest of the present response to the client. Returns the problem instead when the response failed before anything was sent. */
  relay(): Problem | undefined
  /** Reads the whole body. Rejects with Refused when it is larger than `bytesMax` or breaks off. */
  collect(bytesMax: number): Promise<Buffer>
  /** The rest is not needed. */
  discard(): void
  /** It broke off. */
  fail(found: Problem): void
}

/** The clocks and timers of exchanges, and how long they wait. */
export interface Waiting {
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly patience: Patience
  /** What closes WebSockets of a route besides their two sides; null: none opens. Absent: what the plan says. */
  readonly webSocketsOf?: ((route: PlannedRoute) => Route["websocket"]) | undefined
}

/** A route and its key in the plan. */
export interface PlannedRoute {
  readonly key: string
  readonly plan: Route
}
