import type { Connections } from "../../http/client/connections.ts"
import type { Uploads } from "../exchange/uploads.ts"
import type { Breaker, BreakerState } from "./breaker.ts"

/** The state of a target, for status and metrics. */
export interface TargetState {
  readonly origin: string
  /** Result of its active checks; `unknown` without any. */
  readonly health: "up" | "down" | "unknown"
  readonly breaker: BreakerState | "none"
  /** Requests sent to it that are not complete. */
  readonly outstanding: number
}

/** The address of a target. */
export interface TargetPlace {
  readonly origin: string
  readonly hostname: string
  /** Without a trailing slash. */
  readonly basePath: string
  readonly servername: string | undefined
  /** Default Host of its requests: that of the URL in the plan, also when the target is one of the addresses of its name. */
  readonly authority: string
}

/** Maximum number of requests that wait for a connection to one target; more waiting would only increase the overload. */
const waitingMax = 1024

/** One address of a backend, with its connections and health. */
export class Target {
  readonly place: TargetPlace
  readonly connections: Connections
  /** Bodies on those connections that their clients are still sending. */
  readonly uploads: Uploads
  /** Its share of the requests. Changes when the target was found and its source states another one. */
  weight: number
  /** Targets with a greater number get requests only when none with a smaller one is available. */
  priority = 0
  readonly breaker: Breaker | undefined
  /** Requests that wait for a connection. */
  waiting = 0
  outstanding = 0
  /** According to active checks. */
  down = false
  checked = false

  /** A target. `weight`: its share of the requests. */
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

  /** Whether too many requests already wait. */
  get isOverloaded(): boolean {
    return this.waiting >= waitingMax
  }

  /** Whether its checks succeed and its breaker is closed. */
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
