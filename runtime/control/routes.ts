import type { OperatorRole } from "../plan/control.ts"

/** Who may call a route. `open`: everybody, without a credential; `any`: everybody who is authenticated. */
export interface RouteRule {
  readonly needs: OperatorRole | "open" | "any"
}

/** Every route of the control API except `/authz/*`. A route without a row cannot be registered. */
export const routeRules: Readonly<Record<string, RouteRule>> = {
  "GET /healthz": { needs: "open" },
  "GET /startupz": { needs: "open" },
  "GET /readyz": { needs: "open" },
  "GET /metrics": { needs: "open" },
  "GET /v1/login": { needs: "open" },
  "GET /v1/whoami": { needs: "any" },
  "GET /v1/status": { needs: "viewer" },
  "GET /v1/plan": { needs: "viewer" },
  "GET /v1/plans": { needs: "viewer" },
  "GET /v1/plans/:serial": { needs: "viewer" },
  "PUT /v1/plan": { needs: "publisher" },
  "POST /v1/rollback": { needs: "publisher" },
  "POST /v1/explain-request": { needs: "viewer" },
  "GET /v1/refusals/:id": { needs: "viewer" },
  "GET /v1/subscriptions": { needs: "viewer" },
  "POST /v1/subscriptions": { needs: "operator" },
  "GET /v1/subscriptions/:name": { needs: "viewer" },
  "DELETE /v1/subscriptions/:name": { needs: "operator" },
  "POST /v1/subscriptions/:name/rotate": { needs: "operator" },
  "POST /v1/subscriptions/:name/approve": { needs: "operator" },
  "POST /v1/subscriptions/:name/reject": { needs: "operator" },
  "POST /v1/subscriptions/:name/suspend": { needs: "operator" },
  "POST /v1/subscriptions/:name/activate": { needs: "operator" },
  "POST /v1/subscriptions/:name/cancel": { needs: "operator" },
  "GET /v1/usage": { needs: "viewer" },
  "POST /v1/prune": { needs: "admin" },
  "GET /v1/tokens": { needs: "admin" },
  "POST /v1/tokens": { needs: "admin" },
  "DELETE /v1/tokens/:name": { needs: "admin" },
}

/** Questions and lists of the engine, which change nothing although they are sent by POST. */
const questions =
  /\/(?:check|batch-check|expand|explain|read|list-objects|streamed-list-objects|list-users|list-relations|matrix|run)$|\/access\/v1\//

/** The rule of a request to the engine behind `/authz`. Everything that is not known as a question may change something. */
export function engineRule(method: string, path: string): RouteRule {
  const asks = method === "GET" || method === "HEAD" || (method === "POST" && questions.test(path))
  return { needs: asks ? "viewer" : "operator" }
}

/** The rule of a registered route; undefined: there is none. */
export function ruleOf(method: string, route: string, path: string): RouteRule | undefined {
  if (route === "/authz" || route.startsWith("/authz/")) return engineRule(method, path)
  return routeRules[`${method === "HEAD" ? "GET" : method} ${route}`]
}
