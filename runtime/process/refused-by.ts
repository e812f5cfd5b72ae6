import { PlanRefused } from "../control/plan-keeper.ts"
import type { LoadError } from "../gateway/generation/load-error.ts"

/** The refusal of a plan that cannot be loaded. Problems of loading begin with their place, where it is known: `gateway.conf:41: …`. */
export function refusedBy(error: LoadError): PlanRefused {
  return new PlanRefused(
    error.problems.map((problem) => {
      const [, origin, message] = /^(\S+:\d+): (.*)$/s.exec(problem) ?? []
      return message === undefined || origin === undefined
        ? { path: "", message: problem }
        : { path: "", message, origin }
    }),
  )
}
