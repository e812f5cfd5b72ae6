/**
 * What a change may do to those who call.
 * `opens`: something is allowed, reached or shown that was not. `closes`: something that was allowed is refused.
 * `breaking`: what callers or stored tuples rely on is gone or means something else. `neutral`: none of these.
 */
export type Risk = "opens" | "closes" | "breaking" | "neutral"

/** What a change is about; the names are words of the languages where these have one. */
export type SubjectKind =
  | "plan"
  | "gateway"
  | "listener"
  | "authz"
  | "value"
  | "secret"
  | "issuer"
  | "backend"
  | "product"
  | "subscription"
  | "store"
  | "model"
  | "type"
  | "relation"
  | "condition"
  | "api"
  | "version"
  | "route"
  | "step"

/** Under which head a change is told: the whole plan, one or several APIs, a store. */
export interface Scope {
  readonly kind: "plan" | "gateway" | "authz" | "api" | "store" | "declaration"
  /** `orders`, `catalog, orders`; empty where there is only one. */
  readonly name: string
}

/** One difference between two plans that a person has to know of. */
export interface Change {
  readonly risk: Risk
  /** Says that the plan as a whole is suspicious: it is empty, or much smaller than the one before. */
  readonly danger: boolean
  readonly action: "added" | "removed" | "changed"
  readonly subject: { readonly kind: SubjectKind; readonly name: string }
  readonly scope: Scope
  /** Keys (`METHOD /path`) of the routes it holds for, in order; empty where it is about no route. */
  readonly routes: readonly string[]
  /** Place in the plan after the change, of what was removed in the plan before it: `backends.orders_v1`, `routes.GET /v1/orders/{id}.inbound.3`. */
  readonly path: string
  /** In words of the language; undefined where there was nothing, or is nothing. */
  readonly before: string | undefined
  readonly after: string | undefined
  /** What it means, and for whom; several reasons are separated by `; `. */
  readonly why: string
  /** `file:line` of what is there after the change, where known. */
  readonly origin: string | undefined
}

/** Worst first: the order in which changes are told. */
export const risks: readonly Risk[] = ["opens", "breaking", "closes", "neutral"]
