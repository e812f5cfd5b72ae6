import type { Route } from "../../../runtime/plan/resources.ts"
import { statementOf } from "../bind/bound.ts"
import type { RouteScope } from "../routes.ts"

/** What the nearest `websocket` of a route says; nothing where there is none. `chain`: scopes from the inside. */
export function websocketOf(chain: readonly (RouteScope | undefined)[]): Pick<Route, "websocket"> {
  for (const scope of chain) {
    const bound = statementOf(scope?.block, "websocket")
    if (bound === undefined) continue
    if (bound.statement.args.length > 0) return { websocket: null }
    return {
      websocket: {
        idleMs: statementOf(bound.block, "idle")?.args.value<number>("time") ?? null,
        expireWithToken: statementOf(bound.block, "expire-with-token") !== undefined,
        closeWhenRemoved: statementOf(bound.block, "close-when-removed") !== undefined,
      },
    }
  }
  return {}
}
