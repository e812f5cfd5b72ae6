import type { Exchange } from "../exchange.ts"
import type { Outcome, Policy, ProvisionedStep } from "../policy.ts"
import { runSteps } from "../run-steps.ts"

/**
 * Runs branches concurrently, started in order. `all`: continues when all have ended. `any`: continues when the first has succeeded; the others keep
 * running, but their responses are ignored. The first response of a branch becomes the response.
 */
export const parallel: Policy<"parallel"> = (plan, provision) => {
  const branches = plan.branches.map((ids) => ids.map((id) => provision.step(id)))
  const join = plan.until === "all" ? all : any
  return (exchange) => {
    const outer = exchange.trace?.open
    return join(
      branches.map((steps) => {
        // The steps of a branch are no part of the branch that began before it.
        if (exchange.trace !== undefined) exchange.trace.open = outer
        return begin(steps, exchange)
      }),
    )
  }
}

/** Never rejects, as `runSteps` does not. */
function begin(steps: readonly ProvisionedStep[], exchange: Exchange): Promise<Outcome> {
  return Promise.resolve(runSteps(steps, exchange))
}

async function all(running: readonly Promise<Outcome>[]): Promise<Outcome> {
  const outcomes = await Promise.all(running)
  return outcomes.find((outcome) => outcome !== undefined)
}

/** A failed branch does not end the step while another may still succeed. */
function any(running: readonly Promise<Outcome>[]): Promise<Outcome> {
  return new Promise((resolve) => {
    let left = running.length
    let failure: Outcome
    for (const each of running) {
      void each.then((outcome) => {
        left -= 1
        if (outcome === undefined || outcome.kind !== "problem") resolve(outcome)
        else failure ??= outcome
        if (left === 0) resolve(failure)
      })
    }
  })
}
