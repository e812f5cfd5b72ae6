import { addressOf, type FoundTarget } from "../../discovery/discovery.ts"
import type { BackendSettings } from "./backend-settings.ts"
import { Breaker } from "./breaker.ts"
import type { HealthChecks } from "./health-checks.ts"
import type { Pools, SharedPool } from "./pools.ts"
import { Target, type TargetPlace } from "./target.ts"

/**
 * A target that is gone keeps its connections for so long: a request that chose it may still wait for its body or for a token. Running requests end
 * in any case.
 */
const leaveMs = 30_000

interface Member {
  readonly target: Target
  readonly pool: SharedPool
}

/** The targets of a backend. Those that were found come and go, each with connections, health and breaker of its own. */
export class TargetSet {
  readonly #settings: BackendSettings
  readonly #pools: Pools
  readonly #members = new Map<string, Member>()
  readonly #leaving = new Map<Member, NodeJS.Timeout>()
  #targets: readonly Target[] = []
  #checks: HealthChecks | undefined
  #hasPriorities = false

  constructor(settings: BackendSettings, pools: Pools) {
    this.#settings = settings
    this.#pools = pools
  }

  get targets(): readonly Target[] {
    return this.#targets
  }

  /** Checks the health of these and all later targets. */
  check(checks: HealthChecks | undefined): void {
    this.#checks = checks
  }

  /** Adds a target of the plan. */
  add(place: TargetPlace, weight: number): void {
    this.#join(`${this.#members.size}`, place, weight)
    this.#renew()
  }

  /** Replaces the targets by those that were found for a URL. A target that stays keeps its state. */
  replace(url: TargetPlace, found: readonly FoundTarget[]): void {
    const named = new Map(found.map((each) => [addressOf(each), each]))
    for (const [key, member] of this.#members) if (!named.has(key)) this.#leave(key, member)
    for (const [key, each] of named) {
      const place = { ...url, origin: originOf(url, key), hostname: each.host }
      const target = this.#members.get(key)?.target ?? this.#join(key, place, each.weight)
      target.weight = each.weight
      target.priority = each.priority
    }
    this.#renew()
  }

  /** Those of the least priority number among usable targets. */
  best(usable: readonly Target[]): readonly Target[] {
    if (!this.#hasPriorities || usable.length < 2) return usable
    const least = Math.min(...usable.map(({ priority }) => priority))
    return usable.filter(({ priority }) => priority === least)
  }

  /** Releases all connections; those without another user close when their requests have ended. */
  release(): void {
    this.#checks?.close()
    for (const timer of this.#leaving.values()) clearTimeout(timer)
    for (const { pool } of [...this.#members.values(), ...this.#leaving.keys()]) pool.release()
    this.#leaving.clear()
  }

  #join(key: string, place: TargetPlace, weight: number): Target {
    const { breaker } = this.#settings
    const pool = this.#pools.take(place, this.#settings)
    const target = new Target(place, pool, weight, breaker === undefined ? undefined : new Breaker(breaker))
    this.#members.set(key, { target, pool })
    this.#checks?.add(target)
    return target
  }

  #leave(key: string, member: Member): void {
    this.#members.delete(key)
    this.#checks?.remove(member.target)
    const release = () => {
      this.#leaving.delete(member)
      member.pool.release()
    }
    this.#leaving.set(member, setTimeout(release, leaveMs).unref())
  }

  #renew(): void {
    this.#targets = [...this.#members.values()].map(({ target }) => target)
    this.#hasPriorities = this.#targets.some(({ priority }) => priority !== 0)
  }
}

/** The origin of an address, without the port that its scheme implies. */
function originOf({ origin }: TargetPlace, address: string): string {
  return new URL(`${new URL(origin).protocol}//${address}`).origin
}
