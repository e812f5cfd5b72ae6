import {
  type CanaryCounts,
  type CanaryOutcome,
  type CanarySide,
  countRequest,
  noCounts,
} from "../../canary/counts.ts"
import type { IncomingRequest } from "../../http/server/incoming.ts"
import type { Provisioned } from "../generation/provision.ts"
import { type Finished, type Observer, observers } from "../observer.ts"
import { CallerShare } from "./caller-share.ts"

/** Identity of a canary, and the share of the callers that its plan serves, in percent. */
export interface CanaryTerms {
  readonly id: string
  readonly percent: number
}

/** A plan that is ready to serve a share of the callers. Exactly one of the two methods must be called, once; until then no other plan is prepared. */
export interface PreparedCanary {
  /** It ends a canary that runs. It cannot fail. */
  activate(): void
  discard(): void
}

/** Another plan, beside the one in use, that serves a share of the callers. */
export class RunningCanary {
  readonly terms: CanaryTerms
  readonly counts: CanaryCounts = noCounts()
  /** Records requests as before, and counts those of both plans. */
  readonly observer: Observer
  #provisioned: Provisioned
  readonly #share: CallerShare
  readonly #sides: ReadonlyMap<string, CanarySide>

  /** `running`: the plan in use. */
  constructor(terms: CanaryTerms, provisioned: Provisioned, running: Provisioned, observer: Observer) {
    const [old, fresh] = [running.generation.plan, provisioned.generation.plan]
    this.terms = terms
    this.#provisioned = provisioned
    // The salt is the plan: of a larger share, the callers of the smaller one are a part.
    this.#share = new CallerShare([old, fresh], fresh.digest, terms.percent)
    this.#sides = new Map<string, CanarySide>([
      [old.digest, "old"],
      [fresh.digest, "new"],
    ])
    this.observer = observers(observer, { finished: (request) => this.#count(request, observer) })
  }

  get provisioned(): Provisioned {
    return this.#provisioned
  }

  get digest(): string {
    return this.#provisioned.generation.plan.digest
  }

  /** The same plan, provisioned again because one of its files was changed. Returns what it replaces. */
  renew(provisioned: Provisioned): Provisioned {
    const before = this.#provisioned
    this.#provisioned = provisioned
    return before
  }

  /** Whether this plan serves the request. `running`: the plan in use, by whose rules the address of the client is believed. */
  takes(request: IncomingRequest, target: string, running: Provisioned): boolean {
    return this.#share.has(request, target, running.generation.rules.addresses)
  }

  #count(request: Finished, observer: Observer): void {
    const side = request.plan === undefined ? undefined : this.#sides.get(request.plan)
    if (side === undefined) return
    const outcome = outcomeOf(request)
    const durationMs = request.status === webSocket ? undefined : request.durationMs
    countRequest(this.counts[side], outcome, durationMs)
    observer.compared?.({ side, outcome, durationMs })
  }
}

/** Codes of gRPC that blame the server: UNKNOWN, DEADLINE_EXCEEDED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS. */
const grpcFailures: ReadonlySet<number> = new Set([2, 4, 12, 13, 14, 15])
const webSocket = 101

/** A denial is what the gateway itself refused; a 404 of a backend does not count. */
function outcomeOf({ status, grpcStatus, problem, answeredBy }: Finished): CanaryOutcome {
  if (status >= 500 || (typeof grpcStatus === "number" && grpcFailures.has(grpcStatus))) return "failed"
  const isOwn = problem !== undefined || (answeredBy !== undefined && status >= 400)
  return isOwn ? "denied" : "ok"
}
