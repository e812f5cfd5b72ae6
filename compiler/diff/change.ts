import type { Risk } from "../analysis/finding.ts"

/** What is declared once for the whole gateway and used by name. */
export type ProviderKind =
  | "issuer"
  | "backend"
  | "introspection"
  | "users"
  | "pdp"
  | "certificate"
  | "token"
  | "value"
  | "secret"

/** What a change is about. A `step` is named by its section (`inbound`, `backend`, `outbound`), everything else by its own name. */
export type SubjectKind =
  | "plan"
  | "gateway"
  | "listener"
  | "trust"
  | "limits"
  | "authz"
  | "caller"
  | "store"
  | "model"
  | "type"
  | "relation"
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

/** Under which head a change is told: `gateway`, `api orders`, `store acme`, `issuer acme`; what holds for several APIs is told under `gateway`. */
export interface ChangeScope {
  readonly kind: "plan" | "gateway" | "api" | "product" | "subscription" | ProviderKind | "authz" | "store"
  /** Empty for `plan`, `gateway` and `authz`. */
  readonly name: string
}

/** One difference between two plans that a person has to know of. */
export interface Change {
  /** The worst of what it does. */
  readonly risk: Risk
  /** The plan as a whole is suspicious: it is empty, or much smaller or larger than the one before. */
  readonly danger: boolean
  readonly action: "added" | "removed" | "changed"
  readonly subject: { readonly kind: SubjectKind; readonly name: string }
  readonly scope: ChangeScope
  /** Keys (`METHOD /path`) of the routes it holds for, sorted; empty where it is about none. */
  readonly routes: readonly string[]
  /** The same in words: `all 10 routes of orders`, `GET /v1/orders/{id}`; empty where it is about none. */
  readonly where: string
  /** Place in the plan after the change, of what was removed in the plan before it: `backends.orders_v1`, `routes.GET /v1/orders/{id}.inbound.3`. */
  readonly path: string
  /** In words of the language. Undefined where there was nothing before, or is nothing after. */
  readonly before: string | undefined
  readonly after: string | undefined
  /** What it means and for whom, the worst first; several reasons are separated by `; `. */
  readonly why: string
  /** The same reasons one by one, each with its own risk. */
  readonly reasons: readonly { readonly risk: Risk; readonly why: string }[]
  /** `file:line` of what is there after the change, where known. */
  readonly origin: string | undefined
}
