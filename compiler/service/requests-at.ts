import type { Statement } from "../gateway/ast.ts"
import type { Insight } from "../gateway/insight.ts"

/** A request that a route matches, for a person to complete. */
export interface ProposedRequest {
  /** `GET` for a route of any method. */
  readonly method: string
  /** With versions and the path of the API: `/v1/orders/{id}`. */
  readonly path: string
  /** One of the hosts of the API; undefined: it is served at every host. */
  readonly host: string | undefined
}

/** An API may have 100,000 routes: a list that a person chooses from has no use for more. */
const proposedMax = 1000

/**
 * The requests that a place in gateway.conf is about, in the order of the text: those of the operation there (one for each version of its API),
 * else of the version or the API there, else those on which the statement there has an effect, e.g. one of a policy. Operations that have no
 * routes because of mistakes are missing.
 */
export function requestsAt(path: string, offset: number, { routes }: Insight): readonly ProposedRequest[] {
  const holds = ({ span }: Statement): boolean =>
    span.file.path === path && span.start <= offset && offset <= span.end
  // By their nearness: own operations, those of the version, those of the API, those with a statement there.
  const found: ProposedRequest[][] = [[], [], [], []]
  for (const [{ operation, version, api }, { applying, route }] of routes) {
    const blocks = [operation, version, api.bound].map((each) => each !== undefined && holds(each.statement))
    const isApplied = !blocks.includes(true) && applying.some(({ bound }) => holds(bound.statement))
    found[[...blocks, isApplied].indexOf(true)]?.push({
      method: route.method === "*" ? "GET" : route.method,
      path: route.path,
      host: route.hosts === undefined ? undefined : oneOf(route.hosts),
    })
  }
  return (found.find(({ length }) => length > 0) ?? []).slice(0, proposedMax)
}

/** A host that a request can have: `*.acme.example` is every name below, so `www.acme.example` is one. */
function oneOf(hosts: readonly string[]): string | undefined {
  return hosts.find((host) => !host.startsWith("*.")) ?? hosts[0]?.replace("*", "www")
}
