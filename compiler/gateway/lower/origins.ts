import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { Span } from "../../core/source.ts"
import { branchPlaces } from "../../model/branch-places.ts"
import type { PlanSchemas } from "../../openapi/plan-schemas.ts"
import { headSpan, statementOf } from "../bind/bound.ts"
import { authzPdp } from "../bind/names.ts"
import type { Program } from "../program.ts"
import type { RouteSource } from "../routes.ts"
import type { ExpressionPlaces } from "./expression-places.ts"
import type { LoweredRoute } from "./route.ts"
import { type Lowered, originOf, type PlanSteps } from "./step.ts"
import type { StoreModels } from "./store-model.ts"

/** Where the parts of a plan are written, by their path in the plan. */
export class Origins {
  readonly #program: Program
  readonly #body: PlanBody
  readonly #expressions: ExpressionPlaces
  readonly #schemas: PlanSchemas
  readonly #models: StoreModels
  readonly #origins = new Map<string, string>()

  constructor(
    program: Program,
    body: PlanBody,
    { expressions }: PlanSteps,
    schemas: PlanSchemas,
    models: StoreModels,
  ) {
    this.#program = program
    this.#body = body
    this.#models = models
    this.#expressions = expressions
    this.#schemas = schemas
  }

  /** The places of everything in the plan that can fail at run time, by its path in the plan. */
  of(
    routes: ReadonlyMap<RouteSource, LoweredRoute>,
    backends: readonly { readonly name: string; readonly span: Span }[],
    onUnmatched: readonly Lowered[],
  ): Record<string, string> {
    const { gateway, authz, control, portal, change, recorder } = this.#program
    // Kept operations have the lines of an earlier text. Without a plan nobody reads them.
    if (recorder !== undefined) return {}
    if (gateway !== undefined) this.#add("gateway", headSpan(gateway.statement))
    if (authz !== undefined) this.#add("authz", headSpan(authz.statement))
    if (control !== undefined) this.#add("control", headSpan(control.statement))
    if (portal !== undefined) this.#add("portal", headSpan(portal.statement))
    if (change !== undefined) this.#add("change", headSpan(change.statement))
    const { authzUrl } = this.#program
    if (authzUrl !== undefined && this.#body.pdps?.[authzPdp] !== undefined)
      this.#add(`pdps.${authzPdp}`, headSpan(authzUrl.statement))
    for (const store of this.#program.all("store")) {
      this.#add(`authz.stores.${store.name}`, store.span)
      this.#model(store.name)
    }
    for (const kind of ["value", "secret", "issuer", "product", "subscription"] as const) {
      const table = this.#body[`${kind}s`]
      for (const each of this.#program.all(kind))
        if (Object.hasOwn(table, each.name)) this.#add(`${kind}s.${each.name}`, each.span)
    }
    for (const [kind, table] of [
      ["introspection", "introspections"],
      ["oidc", "oidcClients"],
      ["users", "users"],
      ["pdp", "pdps"],
      ["certificate", "certificates"],
      ["token", "tokenClients"],
    ] as const)
      for (const each of this.#program.all(kind))
        if (Object.hasOwn(this.#body[table] ?? {}, each.name)) this.#add(`${table}.${each.name}`, each.span)
    for (const [key, place] of this.#expressions.origins(this.#body.steps)) this.#origins.set(key, place)
    for (const { name, span } of backends) this.#add(`backends.${name}`, span)
    for (const [{ key, span, scopes }, lowered] of routes) {
      this.#add(`routes.${key}`, span)
      const webSocket = [scopes.operation, scopes.version, scopes.api]
        .map((scope) => statementOf(scope?.block, "websocket"))
        .find((bound) => bound !== undefined)
      if (webSocket !== undefined) this.#add(`routes.${key}.websocket`, headSpan(webSocket.statement))
      for (const section of ["inbound", "backend", "outbound", "onError"] as const)
        this.#steps(`routes.${key}.${section}`, lowered[section])
    }
    for (const api of this.#program.all("api")) {
      for (const keyword of ["path", "host"]) {
        const statement = statementOf(api.bound.block, keyword)
        if (statement !== undefined) this.#add(`apis.${api.name}.${keyword}`, headSpan(statement.statement))
      }
    }
    this.#steps("gateway.onUnmatched", onUnmatched)
    for (const [name, place] of this.#schemas.places()) this.#origins.set(`schemas.${name}`, place)
    const sorted: Record<string, string> = {}
    // Names alone are sorted without calls of a function of ours: a large plan has a hundred thousand.
    for (const key of [...this.#origins.keys()].sort()) sorted[key] = this.#origins.get(key) as string
    return sorted
  }

  /** Types, relations (`doc#viewer`) and conditions of a store's model, which may be in several files. */
  #model(store: string): void {
    const { types, conditions } = this.#models.get(store)?.source ?? {}
    const path = `authz.stores.${store}`
    for (const [type, { span, relations }] of types ?? []) {
      this.#add(`${path}.${type}`, span)
      for (const [relation, place] of relations) this.#add(`${path}.${type}#${relation}`, place)
    }
    for (const [name, span] of conditions ?? []) this.#add(`${path}.condition ${name}`, span)
    this.#branches(store, path)
  }

  /** Branches of definitions (`doc#viewer union.child.1`), and types in lists (`doc#viewer direct.1`), with their column. */
  #branches(store: string, path: string): void {
    const { source, plan } = this.#models.get(store) ?? {}
    if (source === undefined || plan === undefined) return
    for (const { name, span } of branchPlaces(source, plan.model)) {
      const { line, column } = span.file.position(span.start)
      this.#origins.set(`${path}.${name}`, `${span.file.path}:${line}:${column}`)
    }
  }

  #steps(path: string, steps: readonly Lowered[]): void {
    steps.forEach(({ origin, inside }, index) => {
      this.#origins.set(`${path}.${index}`, origin)
      for (const name in inside) this.#steps(`${path}.${index}.${name}`, inside[name] ?? [])
    })
  }

  #add(path: string, span: Span): void {
    this.#origins.set(path, originOf(span))
  }
}
