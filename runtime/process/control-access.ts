import type { ControlCallers } from "../control/operators.ts"
import type { References } from "../gateway/generation/references.ts"
import { discoveryUrl } from "../identity/discovery.ts"
import type { PlanBody } from "../plan/plan.ts"
import { browserOrigin } from "./browser-origin.ts"
import { ListenerAccess, type ListenerAccessSettings, type Verifiers } from "./listener-access.ts"

/** The certificates of the control listeners, and the issuers of operators, across plans. */
export class ControlAccess extends ListenerAccess<ControlCallers> {
  constructor(settings: ListenerAccessSettings) {
    super(settings, {
      name: "control",
      issuers: ({ control }) => Object.keys(control?.issuers ?? {}),
      isTraced: () => false,
      keys: () => [],
      callers: callersOf,
    })
  }
}

function callersOf(
  { control, issuers }: PlanBody,
  references: References,
  verifiers: Verifiers,
): ControlCallers {
  const { tryIt } = control ?? {}
  return {
    acceptsSharedToken: control?.sharedToken !== false,
    tryIt: tryIt && {
      console: browserOrigin(tryIt.console, "the console of `try-it`", references),
      gateway: browserOrigin(tryIt.gateway, "the gateway of `try-it`", references),
    },
    issuers: Object.entries(control?.issuers ?? {}).flatMap(([name, plan]) => {
      const verifier = verifiers.get(name)?.value
      const source = issuers[name]?.source
      if (verifier === undefined || source === undefined) return []
      const exact = "discovery" in source && source.exact === true
      const discovery =
        "discovery" in source ? discoveryUrl(references.text(source.discovery), exact) : undefined
      return [{ name, verifier, plan, discovery, exact }]
    }),
  }
}
