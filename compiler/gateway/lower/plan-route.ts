import type { PathForms, Route } from "../../../runtime/plan/resources.ts"
import { statementOf } from "../bind/bound.ts"
import { printPath } from "../bind/path.ts"
import type { RouteScope, RouteSource } from "../routes.ts"
import { type PathFormKeyword, pathFormKeywords } from "../schema/scopes.ts"
import { timeoutOfChain } from "./route-statements.ts"
import { idsOf, type Lowered } from "./step.ts"

/** The steps of a route by section. */
interface Sections {
  readonly inbound: readonly Lowered[]
  readonly backend: readonly Lowered[]
  readonly outbound: readonly Lowered[]
  readonly onError: readonly Lowered[]
}

/** The route for the plan. `timeoutMs` is used if no scope of `chain` sets another timeout. */
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

const fields: { readonly [Keyword in PathFormKeyword]: keyof PathForms } = {
  "encoded-slash": "encodedSlash",
  "path-parameters": "pathParameters",
  "empty-segments": "emptySegments",
}

/**
 * The path forms that a route lets through, each set by the nearest statement; empty if none. `chain`: scopes from the innermost outwards.
 */
function pathFormsOf(chain: readonly (RouteScope | undefined)[]): Pick<Route, "passes"> {
  const passed = pathFormKeywords.filter((keyword) => {
    const nearest = chain
      .map((scope) => statementOf(scope?.block, keyword))
      .find((bound) => bound !== undefined)
    return nearest?.args.value<string>("treatment") === "pass"
  })
  if (passed.length === 0) return {}
  return { passes: Object.fromEntries(passed.map((keyword) => [fields[keyword], true])) }
}

/** The settings of the nearest `websocket` of a route; empty if there is none. `chain`: scopes from the innermost outwards. */
function websocketOf(chain: readonly (RouteScope | undefined)[]): Pick<Route, "websocket"> {
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
