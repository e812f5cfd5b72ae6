import type { Route } from "../../../runtime/plan/resources.ts"
import { printPath } from "../bind/path.ts"
import type { RouteScope, RouteSource } from "../routes.ts"
import { pathFormsOf } from "./path-forms.ts"
import { timeoutOfChain } from "./route-statements.ts"
import { idsOf, type Lowered } from "./step.ts"
import { websocketOf } from "./websocket.ts"

/** The steps of a route by section. */
interface Sections {
  readonly inbound: readonly Lowered[]
  readonly backend: readonly Lowered[]
  readonly outbound: readonly Lowered[]
  readonly onError: readonly Lowered[]
}

/** The route as the plan has it. `timeoutMs` counts where no scope of `chain` says another. */
export function planRoute(
  source: RouteSource,
  chain: readonly (RouteScope | undefined)[],
  { inbound, backend, outbound, onError }: Sections,
  timeoutMs: number | null,
): Route {
  return {
    api: source.api.name,
    version: source.versionName,
    operation: source.operationName,
    method: source.method,
    path: printPath(source.path),
    ...(source.hosts === undefined ? {} : { hosts: [...source.hosts] }),
    stripPrefix: source.prefix.length === 0 ? "" : printPath(source.prefix),
    ...pathFormsOf(chain),
    timeoutMs: timeoutOfChain(chain, timeoutMs),
    ...websocketOf(chain),
    sections: {
      inbound: idsOf(inbound),
      backend: idsOf(backend),
      outbound: idsOf(outbound),
      onError: idsOf(onError),
    },
  }
}
