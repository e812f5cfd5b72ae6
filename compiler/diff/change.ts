import type { Risk } from "../analysis/finding.ts"

/** Things that are declared once for the whole gateway and used by name. */
export type ProviderKind =
  | "issuer"
  | "backend"
  | "introspection"
  | "oidc"
  | "users"
  | "pdp"
  | "certificate"
  | "token"
  | "value"
  | "secret"

/** What a change is about. A `step` has the name of its section (`inbound`, `backend`, `outbound`), everything else its own name. */
export type SubjectKind =
  | "plan"
  | "gateway"
  | "listener"
  | "trust"
  | "limits"
  | "setting"
  | "authz"
  | "control"
  | "portal"
  | "caller"
  | "change"
  | "store"
  | "model"
  | "type"
  | "relation"
  | "move"
  | "condition"
  | ProviderKind
  | "product"
  | "subscription"
  | "api"
  | "version"
  | "route"
  | "auth"
  | "limit"
  | "require"
  | "step"

/** The heading of a change: `gateway`, `api orders`, `store acme`, `issuer acme`. A change of several APIs has the heading `gateway`. */
export interface ChangeScope {
  readonly kind:
    | "plan"
    | "gateway"
    | "api"
    | "product"
    | "subscription"
    | ProviderKind
    | "authz"
    | "control"
    | "portal"
    | "change"
    | "store"
  /** Empty for `plan`, `gateway`, `authz`, `control`, `portal` and `change`. */
  readonly name: string
}

/** One difference between two plans that a reviewer must know. */
export interface Change {
  /** The worst risk of its reasons. */
  readonly risk: Risk
  /** The plan as a whole is suspicious: it is empty, or much smaller or larger than the previous one. */
  readonly danger: boolean
  readonly action: "added" | "removed" | "changed"
  readonly subject: { readonly kind: SubjectKind; readonly name: string }
  readonly scope: ChangeScope
  /** Keys (`METHOD /path`) of the affected routes, sorted; empty if it affects no route. */
  readonly routes: readonly string[]
  /** The affected routes in words: `all 10 routes of orders`, `GET /v1/orders/{id}`; empty if it affects no route. */
  readonly where: string
  /** Path in the new plan, or in the old plan if something was removed: `backends.orders_v1`, `routes.GET /v1/orders/{id}.inbound.3`. */
  readonly path: string
  /** The old and the new statement. Undefined if there is none. */
  readonly before: string | undefined
  readonly after: string | undefined
  /** The effects and who is affected, the worst first, separated by `; `. */
  readonly why: string
  /** The same effects as a list, each with its own risk. */
  readonly reasons: readonly { readonly risk: Risk; readonly why: string }[]
  /** `file:line` in the new text, if known. */
  readonly origin: string | undefined
}
