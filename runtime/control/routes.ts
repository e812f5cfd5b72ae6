import type { OperatorRole } from "../plan/control.ts"

/** Who may call a route, and how the audit log calls it. `open`: everybody, without a credential; `any`: everybody who is authenticated. */
export interface RouteRule {
  readonly needs: OperatorRole | "open" | "any"
  /** Name in the audit log; absent: it is not logged there. */
  readonly action?: string
  /** False: it changes nothing, so it is served although the audit log cannot be written. */
  readonly changes?: false
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
  "PUT /v1/plan": { needs: "publisher", action: "plan.apply" },
  "POST /v1/rollback": { needs: "publisher", action: "plan.rollback" },
  "POST /v1/explain-request": { needs: "viewer" },
  "GET /v1/refusals/:id": { needs: "viewer" },
  "GET /v1/subscriptions": { needs: "viewer" },
  "POST /v1/subscriptions": { needs: "operator", action: "subscription.create" },
  "GET /v1/subscriptions/:name": { needs: "viewer" },
  "DELETE /v1/subscriptions/:name": { needs: "operator", action: "subscription.delete" },
  "POST /v1/subscriptions/:name/rotate": { needs: "operator", action: "subscription.rotate" },
  "POST /v1/subscriptions/:name/approve": { needs: "operator", action: "subscription.approve" },
  "POST /v1/subscriptions/:name/reject": { needs: "operator", action: "subscription.reject" },
  "POST /v1/subscriptions/:name/suspend": { needs: "operator", action: "subscription.suspend" },
  "POST /v1/subscriptions/:name/activate": { needs: "operator", action: "subscription.activate" },
  "POST /v1/subscriptions/:name/cancel": { needs: "operator", action: "subscription.cancel" },
  "GET /v1/usage": { needs: "viewer" },
  "POST /v1/prune": { needs: "admin", action: "prune" },
  "GET /v1/tokens": { needs: "admin" },
  "POST /v1/tokens": { needs: "admin", action: "token.create" },
  "GET /v1/audit": { needs: "admin", action: "audit.read", changes: false },
  "POST /v1/audit/prune": { needs: "admin", action: "audit.prune" },
  "DELETE /v1/tokens/:name": { needs: "admin", action: "token.revoke" },
}

/** Questions and lists of the engine, which change nothing although they are sent by POST. */
const questions =
  /\/(?:check|batch-check|expand|explain|read|list-objects|streamed-list-objects|list-users|list-relations|matrix|run)$|\/access\/v1\//

/** The rule of a request to the engine behind `/authz`. Everything that is not known as a question may change something. */
export function engineRule(method: string, path: string): RouteRule {
  const asks = method === "GET" || method === "HEAD" || (method === "POST" && questions.test(path))
  return asks
    ? { needs: "viewer", action: "engine.read", changes: false }
    : { needs: "operator", action: "engine.write" }
}

/** The rule of a registered route; undefined: there is none. */
export function ruleOf(method: string, route: string, path: string): RouteRule | undefined {
  if (route === "/authz" || route.startsWith("/authz/")) return engineRule(method, path)
  return routeRules[`${method === "HEAD" ? "GET" : method} ${route}`]
}
