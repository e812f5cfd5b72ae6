import type { RelationChange, TraceLine } from "../../policies/ports.ts"
import type { Finished } from "../observer.ts"
import type { ClientResponse } from "./client-double.ts"
import type { LimitLeft } from "./counted-limits.ts"
import type { StoreDecision } from "./memory-stores.ts"
import type { PlayedConnection } from "./played-connection.ts"
import { PlayedWebSocket } from "./played-web-socket.ts"
import type { StepRun } from "./watched-steps.ts"
import type { BackendAnswer, BackendRequest } from "./world.ts"

/** A request that a backend got, and its response. */
export interface Sent extends BackendRequest {
  readonly answer: BackendAnswer
}

/** Everything that became of one request. */
export interface Passage {
  readonly response: ClientResponse
  /** What the log would have of it; of a WebSocket, until it opened. */
  readonly finished: Finished
  /** The WebSocket that it opened; undefined: it opened none. */
  readonly webSocket: PlayedWebSocket | undefined
  /** Requests to backends and other servers, in order. */
  readonly sent: readonly Sent[]
  /** Runs of steps in the order in which they began; inner ones follow the step that contains them. */
  readonly steps: readonly StepRun[]
  readonly limits: readonly LimitLeft[]
  /** Questions to the engine. Those to decision points are in `sent`. */
  readonly decisions: readonly StoreDecision[]
  /** Tuples that `grant` and `revoke` changed. */
  readonly changes: readonly RelationChange[]
  /** Lines that steps wrote to the log: of `trace`, and of validations that only detect. */
  readonly log: readonly TraceLine[]
}

/** What is noted while a request runs. */
export class PassageRecording {
  readonly sent: Sent[] = []
  readonly steps: StepRun[] = []
  readonly limits = new Map<string, LimitLeft>()
  readonly decisions: StoreDecision[] = []
  readonly changes: RelationChange[] = []
  readonly log: TraceLine[] = []
  /** The id that the pipeline gave the request. */
  id: string | undefined
  /** The connection to the backend that accepted a WebSocket. */
  upstream: PlayedConnection | undefined
  /** The facts when a WebSocket opened, and at the end. */
  opened: Finished | undefined
  finished: Finished | undefined
  /** Called when a WebSocket has opened. */
  whenOpened: () => void = () => undefined

  /** `client`: the connection of a client that asked for a WebSocket. @throws Error when the request has not ended, and no WebSocket has opened */
  passage(response: ClientResponse, client: PlayedConnection | undefined): Passage {
    const { sent, steps, decisions, changes, log, opened, upstream } = this
    const facts = opened ?? this.finished
    if (facts === undefined) throw new Error("the gateway did not report the end of the request")
    const isOpen = opened !== undefined && client !== undefined && upstream !== undefined
    const webSocket = isOpen ? new PlayedWebSocket(client, upstream, () => this.finished) : undefined
    const limits = [...this.limits.values()]
    return { response, finished: facts, webSocket, sent, steps, limits, decisions, changes, log }
  }
}
