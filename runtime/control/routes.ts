import { controlRoles, includesRole, type OperatorRole } from "../plan/control.ts"

/** Who may call a route, what it is called, and whether the audit log has it. */
export type RouteRule =
  /** `open`: everybody, without a credential; `any`: everybody who is authenticated. */
  | { readonly needs: "open" | "any"; readonly operation?: undefined; readonly audit?: undefined }
  | {
      readonly needs: OperatorRole
      /** Name in the audit log and in the scope of tokens: `GROUP.WORD`, or one word. */
      readonly operation: string
      /**
       * `change`: refused while the audit log cannot be written; `read`: logged, but served then, too; `journal`: refused while neither the audit log nor the
       * journal on disk can be written. Absent: not logged.
       */
      readonly audit?: "change" | "read" | "journal"
    }

function read(needs: OperatorRole, operation: string): RouteRule {
  return { needs, operation }
}

function change(needs: OperatorRole, operation: string): RouteRule {
  return { needs, operation, audit: "change" }
}

/** Every route of the control API except `/authz/*`. A route without a row cannot be registered. */
export const routeRules: Readonly<Record<string, RouteRule>> = {
  "GET /healthz": { needs: "open" },
  "GET /startupz": { needs: "open" },
  "GET /readyz": { needs: "open" },
  "GET /metrics": { needs: "open" },
  "GET /console": { needs: "open" },
  "GET /console/*": { needs: "open" },
  "GET /playground": { needs: "open" },
  "GET /playground/*": { needs: "open" },
  "POST /console/session": { needs: "open" },
  "POST /console/login": { needs: "open" },
  "GET /console/login/:issuer": { needs: "open" },
  "DELETE /console/session": { needs: "any" },
  "POST /v1/console-links": { needs: "any" },
  "GET /v1/login": { needs: "open" },
  "GET /v1/whoami": { needs: "any" },
  "GET /v1/status": read("viewer", "status"),
  "GET /v1/traffic": read("viewer", "traffic"),
  "GET /v1/events": read("viewer", "traffic"),
  "GET /v1/plan": read("viewer", "plan.read"),
  "GET /v1/plans": read("viewer", "plan.read"),
  "GET /v1/plans/:serial": read("viewer", "plan.read"),
  "GET /v1/plans/:serial/changes": read("viewer", "plan.read"),
  "POST /v1/plan/changes": read("viewer", "plan.read"),
  "PUT /v1/plan": change("publisher", "plan.apply"),
  "POST /v1/plan/impact": { needs: "viewer", operation: "plan.impact", audit: "read" },
  "POST /v1/tuples/impact": { needs: "viewer", operation: "engine.read", audit: "read" },
  "POST /v1/rollback": change("publisher", "plan.rollback"),
  "POST /v1/rollback/without-database": { needs: "admin", operation: "plan.rollback", audit: "journal" },
  "GET /v1/kept-plans": read("viewer", "plan.read"),
  "GET /v1/kept-plans/:serial": read("viewer", "plan.read"),
  "GET /v1/canary": read("viewer", "plan.read"),
  "POST /v1/canary": change("publisher", "plan.apply"),
  "POST /v1/canary/promote": change("publisher", "plan.apply"),
  "POST /v1/canary/cancel": change("publisher", "plan.rollback"),
  "GET /v1/consents": read("viewer", "plan.read"),
  "POST /v1/consents": change("viewer", "plan.consent"),
  "POST /v1/explain-request": read("viewer", "explain"),
  "GET /v1/try-it": read("viewer", "explain"),
  "GET /v1/refusals": read("viewer", "explain"),
  "GET /v1/refusals/:id": read("viewer", "explain"),
  "GET /v1/routes": read("viewer", "plan.read"),
  "GET /v1/routes/:key": read("viewer", "plan.read"),
  "GET /v1/products": read("viewer", "subscription.read"),
  "GET /v1/subscriptions": read("viewer", "subscription.read"),
  "POST /v1/subscriptions": change("operator", "subscription.create"),
  "GET /v1/subscriptions/:name": read("viewer", "subscription.read"),
  "GET /v1/subscriptions/:name/limits": read("viewer", "subscription.read"),
  "DELETE /v1/subscriptions/:name": change("operator", "subscription.delete"),
  "POST /v1/subscriptions/:name/rotate": change("operator", "subscription.rotate"),
  "POST /v1/subscriptions/:name/approve": change("operator", "subscription.approve"),
  "POST /v1/subscriptions/:name/reject": change("operator", "subscription.reject"),
  "POST /v1/subscriptions/:name/suspend": change("operator", "subscription.suspend"),
  "POST /v1/subscriptions/:name/activate": change("operator", "subscription.activate"),
  "POST /v1/subscriptions/:name/cancel": change("operator", "subscription.cancel"),
  "GET /v1/usage": read("viewer", "usage"),
  "GET /v1/moves": read("viewer", "move.read"),
  "POST /v1/moves/count": read("viewer", "move.read"),
  "POST /v1/moves/finish": change("publisher", "move.finish"),
  "POST /v1/prune": change("admin", "prune"),
  "GET /v1/tokens": read("admin", "token.read"),
  "POST /v1/tokens": change("admin", "token.create"),
  "GET /v1/audit": { needs: "admin", operation: "audit.read", audit: "read" },
  "POST /v1/audit/prune": change("admin", "audit.prune"),
  "DELETE /v1/tokens/:name": change("admin", "token.revoke"),
}

const engineRead: RouteRule = { needs: "viewer", operation: "engine.read", audit: "read" }
const engineWrite: RouteRule = change("operator", "engine.write")

/** Questions and lists of the engine, which change nothing although they are sent by POST. */
const questions =
  /\/(?:check|batch-check|expand|explain|read|list-objects|streamed-list-objects|list-users|list-relations|matrix|run)$|\/access\/v1\//

/** The rule of a request to the engine behind `/authz`. Everything that is not known as a question may change something. */
export function engineRule(method: string, path: string): RouteRule {
  const asks = method === "GET" || method === "HEAD" || (method === "POST" && questions.test(path))
  return asks ? engineRead : engineWrite
}

/** The rule of a registered route; undefined: there is none. */
export function ruleOf(method: string, route: string, path: string): RouteRule | undefined {
  if (route === "/authz" || route.startsWith("/authz/")) return engineRule(method, path)
  return routeRules[`${method === "HEAD" ? "GET" : method} ${route}`]
}

/** The operations that a scope can name, with the role that each needs. */
export const operations: ReadonlyMap<string, OperatorRole> = new Map(
  [...Object.values(routeRules), engineRead, engineWrite].flatMap(({ needs, operation }) =>
    operation === undefined ? [] : [[operation, needs] as const],
  ),
)

const groups: ReadonlySet<string> = new Set(
  [...operations.keys()].flatMap((operation) => (operation.includes(".") ? [groupOf(operation)] : [])),
)

/** Whether a word of a scope names an operation, or a group of them: `plan` is all of `plan.read`, `plan.apply`, `plan.consent` and `plan.rollback`. */
export function isScopeWord(word: string): boolean {
  return operations.has(word) || groups.has(word)
}

/** All words of scopes, for messages. */
export const scopeWords: readonly string[] = [...new Set([...operations.keys(), ...groups])].toSorted()

/** Whether a scope covers an operation or a whole group. */
export function covers(scope: readonly string[], word: string): boolean {
  return scope.includes(word) || scope.includes(groupOf(word))
}

/** The least role with which everything in a scope can be done. */
export function roleOfScope(scope: readonly string[]): OperatorRole {
  const needed = [...operations].flatMap(([operation, role]) => (covers(scope, operation) ? [role] : []))
  return controlRoles.find((role) => needed.every((each) => includesRole(role, each))) ?? "admin"
}

function groupOf(operation: string): string {
  return operation.split(".", 1)[0] ?? operation
}
