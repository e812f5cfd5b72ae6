import type { PlanBody } from "../../plan/plan.ts"
import type { Route } from "../../plan/resources.ts"
import type { Step, StepId, StepKind } from "../../plan/steps.ts"
import type { Exchange } from "../../policies/exchange.ts"
import type { Outcome, Policy, Provision, Run } from "../../policies/policy.ts"
import { type PolicyTable, policies } from "../../policies/table.ts"
import type { PlannedRoute } from "../exchange/answer-stream.ts"
import type { LiveRoute } from "../generation/generation.ts"

/** A run of a step. `passed`: the next step follows; `answered`: it ended the section; `failed`: it threw. */
export interface StepRun {
  readonly id: StepId
  readonly kind: StepKind
  outcome: "passed" | "answered" | "failed" | "running"
}

/** A weakened step: at the routes with these keys it runs as `alternative` instead of as the plan says. */
export interface Weakening {
  readonly step: StepId
  readonly routes: ReadonlySet<string>
  /** Index into what `alternatives` gave for the step. */
  readonly alternative: number
}

/** Weakened settings of WebSockets, at the routes with these keys. */
export interface WeakenedWebSockets {
  readonly routes: ReadonlySet<string>
  readonly webSocket: Route["websocket"]
}

/** How else a step could be; undefined: it is left out. */
export type Alternatives = (step: Step) => readonly (Step | undefined)[]

/** All policies. Each run is recorded, and a step can be replaced by an alternative while the plan stays. */
export class WatchedSteps {
  readonly #ids: ReadonlyMap<Step, StepId>
  readonly #alternatives: Alternatives | undefined
  weakening: Weakening | WeakenedWebSockets | undefined
  note: (run: StepRun) => void = () => undefined

  constructor({ steps }: PlanBody, alternatives: Alternatives | undefined) {
    this.#ids = new Map(Object.entries(steps).map(([id, step]) => [step, id]))
    this.#alternatives = alternatives
  }

  policies(): PolicyTable {
    const watched = Object.entries(policies).map(([kind, policy]) => [
      kind,
      (plan: Step, provision: Provision): Run => {
        const run = (policy as Policy<StepKind>)(plan as never, provision)
        const others = this.#alternatives?.(plan).map((other) =>
          other === undefined ? undefined : (policy as Policy<StepKind>)(other as never, provision),
        )
        return this.#watched(plan, run, others ?? [])
      },
    ])
    return Object.fromEntries(watched) as PolicyTable
  }

  /** What closes WebSockets of a route. */
  webSocketsOf({ key, plan }: PlannedRoute): Route["websocket"] {
    const { weakening } = this
    const isWeak = weakening !== undefined && "webSocket" in weakening && weakening.routes.has(key)
    return isWeak ? weakening.webSocket : plan.websocket
  }

  #watched(plan: Step, run: Run, others: readonly (Run | undefined)[]): Run {
    const id = this.#ids.get(plan) ?? ""
    const { kind } = plan
    return (exchange) => {
      const step: StepRun = { id, kind, outcome: "running" }
      this.note(step)
      const chosen = this.#chosen(id, exchange, run, others)
      if (chosen === undefined) return passed(step, undefined)
      try {
        const outcome = chosen(exchange)
        if (!(outcome instanceof Promise)) return passed(step, outcome)
        return outcome.then(
          (late) => passed(step, late),
          (error: unknown) => {
            step.outcome = "failed"
            throw error
          },
        )
      } catch (error) {
        step.outcome = "failed"
        throw error
      }
    }
  }

  #chosen(id: StepId, exchange: Exchange, run: Run, others: readonly (Run | undefined)[]): Run | undefined {
    const { weakening } = this
    if (weakening === undefined || !("step" in weakening) || weakening.step !== id) return run
    const route = exchange.route as LiveRoute | undefined
    return weakening.routes.has(route?.key ?? "") ? others[weakening.alternative] : run
  }
}

function passed(step: StepRun, outcome: Outcome): Outcome {
  step.outcome = outcome === undefined ? "passed" : "answered"
  return outcome
}
