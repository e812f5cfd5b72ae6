import type { Plan } from "../../plan/plan.ts"
import { withSettings } from "../../plan/settings.ts"
import { LoadError } from "./load-error.ts"

/**
 * The plan with what the environment of this process sets.
 * @throws LoadError with all variables whose value does not fit, and the places that use them
 */
export function planOfProcess(plan: Plan, environment: Readonly<Record<string, string | undefined>>): Plan {
  const set = withSettings(plan, environment)
  if ("plan" in set) return set.plan
  throw new LoadError(
    set.problems.map(({ place, message }) => {
      const [, block = ""] = /^(gateway|authz|backends\.[^.]+)\./.exec(place) ?? []
      const origin = plan.origins[block]
      return `${origin === undefined ? "" : `${origin}: `}${message} (${place})`
    }),
  )
}
