import type { Engine } from "../check/engine.ts"
import type { CanaryHost } from "../control/canary-keeper.ts"
import type { Prepared, Servable } from "../control/plan-keeper.ts"
import type { Gateway } from "../gateway/gateway.ts"
import { LoadError } from "../gateway/generation/load-error.ts"
import { planOfProcess } from "../gateway/generation/plan-of-process.ts"
import type { Plan } from "../plan/plan.ts"
import type { DeclaredStore } from "../store/declared-stores.ts"
import type { EngineListeners } from "./engine-listeners.ts"
import type { PlanStores } from "./plan-stores.ts"
import { refusedBy } from "./refused-by.ts"
import type { WarmStores } from "./warm-stores.ts"

/** The parts of this process that run a plan; undefined where the process does not have the role. */
export interface ServingParts {
  readonly engine: Pick<Engine, "maxStalenessMs" | "bound">
  readonly stores: PlanStores
  readonly warm: Pick<WarmStores, "served">
  readonly gateway: Gateway | undefined
  readonly listeners: EngineListeners | undefined
  /** What plans read with `env(NAME, "…")`. */
  readonly environment: Environment
  /** Reads what the plan says about the log of the engine. */
  readonly log: (plan: Plan) => Promise<() => void>
}

/**
 * Prepares a plan on all parts, then swaps them in one turn of the event loop, so that no request sees the gateway of one plan and the
 * models of another.
 */
export function servedBy(parts: ServingParts): Servable {
  return {
    async prepare(stored: Plan): Promise<Prepared> {
      const plan = ownPlan(stored, parts.environment)
      const activateLog = await parts.log(plan).catch(refuse)
      parts.stores.load(plan)
      const gateway = await parts.gateway?.prepare(plan).catch(refuse)
      try {
        const listeners = await parts.listeners?.prepare(plan).catch(refuse)
        return {
          async activate(stores: ReadonlyMap<string, DeclaredStore>) {
            await parts.stores.catchUp(stores)
            parts.stores.activate(stores)
            parts.engine.maxStalenessMs = parts.stores.maxStalenessMs ?? undefined
            const { depthMax, requestMs } = parts.stores.limits
            const { memoryBytes } = parts.stores
            parts.engine.bound({
              depthMax: depthMax ?? Number.POSITIVE_INFINITY,
              deadlineMs: requestMs,
              memoryBytes,
            })
            parts.warm.served(stores, parts.stores.readyWhenWarm)
            activateLog()
            gateway?.activate()
            listeners?.activate()
          },
          async discard() {
            await Promise.all([gateway?.discard(), listeners?.discard()])
          },
        }
      } catch (error) {
        await gateway?.discard()
        throw error
      }
    },
  }
}

/** Serves canaries in a gateway; a process without one has no callers to share. */
export function canariesOf(gateway: Gateway | undefined, environment: Environment): CanaryHost {
  return {
    prepareCanary: async (stored, terms) =>
      (await gateway?.prepareCanary(ownPlan(stored, environment), terms).catch(refuse)) ?? {
        activate: () => undefined,
        discard: () => undefined,
      },
    endCanary: () => gateway?.endCanary(),
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/** The plan as this process runs it. @throws PlanRefused */
function ownPlan(stored: Plan, environment: Environment): Plan {
  try {
    return planOfProcess(stored, environment)
  } catch (error) {
    return refuse(error)
  }
}

function refuse(error: unknown): never {
  throw error instanceof LoadError ? refusedBy(error) : error
}
