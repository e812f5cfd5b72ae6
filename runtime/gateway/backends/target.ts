import type { Connections } from "../../http/client/connections.ts"
import type { Uploads } from "../exchange/uploads.ts"
import type { Breaker, BreakerState } from "./breaker.ts"

/** What a target looks like from outside, for status and metrics. */
export interface TargetState {
  readonly origin: string
  /** What its active checks say; `unknown` without such. */
  readonly health: "up" | "down" | "unknown"
  readonly breaker: BreakerState | "none"
  /** Requests sent to it that are not over. */
  readonly outstanding: number
}

/** Where a target is. */
export interface TargetPlace {
  readonly origin: string
  readonly hostname: string
  /** Without a slash at the end. */
  readonly basePath: string
  readonly servername: string | undefined
}

/** Requests waiting for a connection to one target; beyond it the backend has lost, and waiting makes it worse. */
const waitingMax = 1024

/** One address of a backend with its connections and what is known of how it does. */
export class Target {
  readonly place: TargetPlace
  readonly connections: Connections
  /** Bodies on those connections that are still being sent by their clients. */
  readonly uploads: Uploads
  readonly weight: number
  readonly breaker: Breaker | undefined
  /** Requests given to the connections that have no connection yet. */
  waiting = 0
  outstanding = 0
  /** By active checks. */
  down = false
  checked = false

  constructor(
    place: TargetPlace,
    { connections, uploads }: Pick<Target, "connections" | "uploads">,
    weight: number,
    breaker: Breaker | undefined,
  ) {
    this.place = place
    this.connections = connections
    this.uploads = uploads
    this.weight = weight
    this.breaker = breaker
  }

  /** Whether one more request would only wait behind too many others. */
  get isOverloaded(): boolean {
    return this.waiting >= waitingMax
  }

  /** Neither its checks nor its breaker have anything against it. */
  isWell(nowMs: number): boolean {
    return !this.down && (this.breaker === undefined || this.breaker.state(nowMs) === "closed")
  }

  state(nowMs: number): TargetState {
    return {
      origin: this.place.origin,
      health: this.checked ? (this.down ? "down" : "up") : "unknown",
      breaker: this.breaker?.state(nowMs) ?? "none",
      outstanding: this.outstanding,
    }
  }
}
