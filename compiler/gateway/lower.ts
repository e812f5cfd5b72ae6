import type { PlanBody } from "../../runtime/plan/plan.ts"
import { isCredential, namedBy, type StepId, shownTo } from "../../runtime/plan/steps.ts"
import type { AzureCompiler } from "../azure/wing.ts"
import type { Report } from "../core/diagnostic.ts"
import { PlanSchemas, type TellSchemas } from "../openapi/plan-schemas.ts"
import type { OpenapiCompiler } from "../openapi/wing.ts"
import { anyInside, mentions } from "./bind/bound.ts"
import { checkLogins } from "./check/logins.ts"
import { MissingParts } from "./check/missing-parts.ts"
import { checkPlainHttp } from "./check/plain-http.ts"
import type { DescribedOperation, Documents } from "./described.ts"
import type { Served } from "./export-api.ts"
import type { Insight } from "./insight.ts"
import type { KeptUnits, UnitUse } from "./kept-units.ts"
import { Backends } from "./lower/backends.ts"
import { BodySchemas } from "./lower/body-schemas.ts"
import { lowerCallerCredentials } from "./lower/caller-credentials.ts"
import { lowerChange } from "./lower/change.ts"
import { lowerControl } from "./lower/control.ts"
import { describedBodies } from "./lower/described-place.ts"
import { addDocuments } from "./lower/docs.ts"
import { GatewayHost } from "./lower/document-host.ts"
import { Expressions } from "./lower/expression.ts"
import { lowerIssuer } from "./lower/issuer.ts"
import { KeyUses } from "./lower/key-uses.ts"
import { checkListeners } from "./lower/listen.ts"
import { errorsOf, lowerAuthz, lowerGateway } from "./lower/listeners.ts"
import { Memo } from "./lower/memo.ts"
import { Origins } from "./lower/origins.ts"
import { routeTables } from "./lower/outlines.ts"
import { OwnCredentialPlans } from "./lower/own-credentials.ts"
import { lowerPdps } from "./lower/pdps.ts"
import { Places } from "./lower/place.ts"
import { Policies } from "./lower/policies.ts"
import { lowerPortal } from "./lower/portal.ts"
import { lowerProducts, lowerSubscriptions } from "./lower/products.ts"
import { excusedParts, type LoweredRoute, RouteLowering } from "./lower/route.ts"
import { Scopes } from "./lower/scope.ts"
import { lowerSettings } from "./lower/settings.ts"
import { type Lowered, PlanSteps, type StepContext } from "./lower/step.ts"
import { dropStrayKeys } from "./lower/stray-keys.ts"
import { TextLowering } from "./lower/text.ts"
import { Validation } from "./lower/validation.ts"
import { Values } from "./lower/values.ts"
import type { Stores } from "./models.ts"
import { apimApis, type PolicyFiles } from "./policy-files.ts"
import type { PortalFiles } from "./portal-files.ts"
import type { Program } from "./program.ts"
import type { Additions, PartRecorder } from "./recorder.ts"
import { type RouteSource, routesOf } from "./routes.ts"
import type { SchemaFiles } from "./schema-files.ts"
import { surroundingsOf } from "./surroundings.ts"

/** Maximum number of steps of all routes together. A plan of this size has about 20 MB of origins. */
const usesMax = 500_000

/** The wings, loaded only for projects that need them. */
export interface Wings {
  /** compiler/azure/wing.ts, for policy documents and Liquid templates. */
  readonly azure?: AzureCompiler | undefined
  /** compiler/openapi/wing.ts, for OpenAPI documents and files of schemas. */
  readonly openapi?: OpenapiCompiler | undefined
}

/** The content of a plan, and the places where its parts are written. */
export interface LoweredGateway {
  readonly body: PlanBody
  readonly origins: Record<string, string>
  /** By route key: what OpenAPI documents say about the route. */
  readonly described: ReadonlyMap<string, DescribedOperation>
  /** Keys of the routes that serve the document of their API. */
  readonly documentation: ReadonlySet<string>
  /** For editors. */
  readonly insight: Insight
}

/**
 * Lowers the declarations to the content of a plan. Checks what depends on the whole project: expressions in their context, `require`
 * against the models, limits against `auth`. If there are errors among the findings, the result is incomplete and must not be used.
 */
export function lower(
  program: Program,
  { models, ...names }: Omit<Stores, "tests">,
  documents: Documents,
  { policyFiles, schemaFiles, portalFiles, kept }: ReadFiles & { readonly kept?: KeptUnits | undefined },
  { azure, openapi }: Wings,
  report: Report,
): LoweredGateway {
  const values = new Values(program, report)
  const expressions = new Expressions(program, values, report)
  const texts = new TextLowering(program, values, expressions, report)
  const steps = new PlanSteps(program.recorder)
  const credentials = new OwnCredentialPlans(program, values, report)
  const backends = new Backends(program, values, credentials, report)
  const schemas = new PlanSchemas(report, tellingFor(program.recorder))
  const validation = new Validation(schemas, steps, report, program.recorder)
  const places = new Places(values.named(), describedBodies(program, validation))
  const common = { program, values, texts, expressions, models, ...names, report, azure, steps }
  const bodySchemas = new BodySchemas(schemaFiles, schemas)
  const shared = { ...common, bodySchemas, apimApis: apimApis(program) }
  const policies = new Policies(new GatewayHost(shared, backends, policyFiles), policyFiles, steps)
  const lowering = new RouteLowering(shared, places, backends, validation, policies)
  const keeping = { kept: beginKeeping(kept, shared, documents), to: { ...common, ...lowering } }
  const { routes: lowered, onUnmatched } = lowerRoutes(program, documents, lowering, keeping, report)
  const needed = dropStrayKeys(lowered, steps)
  const described = describedIn(needed.keys())
  const routes = addDocuments(needed, described, steps, errorsOf(program.gateway), openapi, report)
  checkListeners(program, { values, report })
  const stepTable = steps.table(usedIn(routes.values(), onUnmatched))
  const keyUses = new KeyUses(program, report)
  const authz = lowerAuthz(shared, keyUses)
  const callers = lowerCallerCredentials(program, values, stepTable, report)
  const gateway = lowerGateway(program, values, report, onUnmatched)
  const published = { portalFiles, gateway, served: servedOf(routes, steps, program), described, openapi }
  const controlled = lowerForPeople(program, values, report, published)
  const issuers = allIssuers(shared, policies, issuersUsed(stepTable, { authz, ...callers, ...controlled }))
  const backendTable = Object.fromEntries(backends.used().map(({ name, backend }) => [name, backend]))
  values.needIn([issuers, backendTable, authz, controlled])
  const pdps = lowerPdps(shared, credentials, stepTable)
  const body: PlanBody = {
    gateway,
    authz,
    ...controlled,
    issuers,
    backends: backendTable,
    ...credentials.tables({ gateway, authz, ...controlled, steps: stepTable, backends: backendTable, pdps }),
    ...callers,
    products: lowerProducts(program, report),
    subscriptions: lowerSubscriptions(program, values, keyedApis(stepTable), keyUses, report),
    ...routeTables(routes),
    steps: stepTable,
    models: modelTable(models),
    schemas: { ...schemas.table() },
    ...values.tables(),
    ...lowerSettings(program.root, { gateway, authz, backends: backendTable }, report),
  }
  checkTogether(program, body, routes.keys(), report)
  const origins = new Origins(program, body, steps, schemas, models).of(routes, backends.used(), onUnmatched)
  return { body, origins, ...besidesPlan(described, routes, { contexts: expressions.contexts, documents }) }
}

/** What is known of the routes besides the plan. */
function besidesPlan(
  described: LoweredGateway["described"],
  routes: Insight["routes"],
  found: Omit<Insight, "routes">,
): Omit<LoweredGateway, "body" | "origins"> {
  return { described, documentation: documentationIn(routes.keys()), insight: { ...found, routes } }
}

/** The listeners for people, and what a change of the plan needs of them. */
function lowerForPeople(
  program: Program,
  values: Values,
  report: Report,
  published: Omit<Parameters<typeof lowerPortal>[0], "program" | "values" | "report">,
): Pick<PlanBody, "control" | "change" | "portal"> {
  return {
    ...lowerControl(program, values, report, published.gateway),
    ...lowerChange(program, report),
    ...lowerPortal({ program, values, report, ...published }),
  }
}

/** Checks what several declarations say together. */
function checkTogether(
  program: Program,
  body: PlanBody,
  routes: Iterable<RouteSource>,
  report: Report,
): void {
  checkLogins(program, body, routes, report)
  checkPlainHttp(program, report)
}

interface ReadFiles {
  readonly policyFiles: PolicyFiles
  readonly schemaFiles: SchemaFiles
  readonly portalFiles: PortalFiles
}

/** What earlier compilations made of operations, and what it is added to. */
interface Keeping {
  readonly kept: KeptUnits | undefined
  readonly to: Additions
}

/** Nothing is kept with policy documents and files of schemas, which are read again in each compilation. */
function beginKeeping(
  kept: KeptUnits | undefined,
  { program, azure, ...shared }: Pick<StepContext, "program" | "models" | "declaredNames" | "azure">,
  documents: Documents,
): KeptUnits | undefined {
  if (kept === undefined || azure !== undefined) return undefined
  if (anyInside(program.root, ({ row }) => row.keyword === "schema")) return undefined
  kept.begin(surroundingsOf(program, { ...shared, documents }))
  return kept
}

/** Tells what is wrong with schemas to each operation that uses them, because any of them may be lowered again alone. */
function tellingFor(recorder: PartRecorder | undefined): TellSchemas | undefined {
  if (recorder === undefined) return undefined
  const memo = new Memo(recorder)
  return (schemas, use, tell) => memo.once(`${memo.idOf(schemas)} ${use}`, tell)
}

/** The models of stores by digest. */
function modelTable(models: Stores["models"]): PlanBody["models"] {
  return Object.fromEntries(
    [...models.values()].flatMap((each) => (each === undefined ? [] : [[each.digest, each.plan]])),
  )
}

/** The issuers that steps or the engine name: declared ones, and those of policy documents. */
function allIssuers(
  {
    program,
    values,
    report,
  }: { readonly program: Program; readonly values: Values; readonly report: Report },
  policies: Policies,
  named: ReadonlySet<string>,
): PlanBody["issuers"] {
  const ofDocuments = Object.entries(policies.issuers()).filter(([name]) => named.has(name))
  return { ...lowerIssuers(program, values, named, report), ...Object.fromEntries(ofDocuments) }
}

/** APIs with at least one route that demands a subscription key. */
function keyedApis(steps: PlanBody["steps"]): ReadonlySet<string> {
  return new Set(
    Object.values(steps).flatMap((step) => {
      const shown = isCredential(step) ? shownTo(step) : undefined
      return shown?.is === "key" ? [shown.api] : []
    }),
  )
}

function documentationIn(routes: Iterable<RouteSource>): ReadonlySet<string> {
  return new Set([...routes].flatMap((each) => (each.documentation ? [each.key] : [])))
}

function describedIn(routes: Iterable<RouteSource>): Map<string, DescribedOperation> {
  return new Map(
    [...routes].flatMap(({ key, described }) => (described === undefined ? [] : [[key, described] as const])),
  )
}

/**
 * Lowers all routes. Items of a scope are collected once for all routes below it: collecting them for each route takes a time that grows
 * with routes times statements.
 */
function lowerRoutes(
  program: Program,
  documents: Documents,
  lowering: RouteLowering,
  { kept, to }: Keeping,
  report: Report,
): { routes: Map<RouteSource, LoweredRoute>; onUnmatched: readonly Lowered[] } {
  const scopes = new Scopes(program, report)
  const missing = new MissingParts(report)
  const routes = new Map<RouteSource, LoweredRoute>()
  const outer = scopes.inside([], { label: "gateway", block: program.gateway?.block }, 0)
  let uses = 0
  const common = new Map<string, ReturnType<Scopes["inside"]>>()
  for (const source of routesOf(program, documents, report)) {
    const { api, version, operation } = source.scopes
    const key = `${source.api.name}/${source.versionName ?? ""}`
    let items = common.get(key)
    if (items === undefined) {
      items = scopes.inside([...outer, ...scopes.productItems(source.api.name)], api, 2)
      if (version !== undefined) items = scopes.inside(items, version, 3)
      common.set(key, items)
    }
    const applying = scopes.inside(items, operation, 4)
    const make = () => lowering.lower(source, applying)
    lowering.see(applying)
    const { recorder } = program
    const { lowered, missing: lacks } =
      kept === undefined || recorder === undefined
        ? make()
        : kept.once(source.operation, useOf(source), { recorder, report, to }, make)
    missing.add(source, excusedParts(lacks, source))
    uses += lowered.inbound.length + lowered.outbound.length + lowered.onError.length
    if (uses > usesMax) {
      report.add(
        "SP3016",
        source.span,
        `the routes up to this one have ${uses} steps in total; the maximum is ${usesMax}`,
      )
      break
    }
    routes.set(source, lowered)
  }
  scopes.reportIdle()
  missing.report()
  lowering.report()
  if (program.gateway === undefined && !program.root.damaged) reportNoListener(program, report)
  return { routes, onUnmatched: lowering.unmatched(outer) }
}

/** What a unit depends on besides its operation and the surroundings. */
function useOf({ api, versionName, inDescribed, scopes, described }: RouteSource): UnitUse {
  // A line that was not understood may name a document, but that concerns only these statements.
  const asks = [scopes.operation, scopes.version, scopes.api].some(
    (scope) => mentions(scope?.block, "mock") || mentions(scope?.block, "validate"),
  )
  return {
    as: `${api.name}/${versionName ?? ""} ${asks ? inDescribed : ""}`,
    described: described?.operation,
  }
}

function reportNoListener(program: Program, report: Report): void {
  const [api] = program.all("api")
  if (api !== undefined) report.add("SP3021", api.span, "there are APIs, but no `gateway`")
  else if (program.authz === undefined)
    report.add("SP3021", undefined, "the project declares neither a `gateway` nor an `authz`")
}

/** The routes that documents of the portal describe: without those that serve documents. None without a portal. */
function servedOf(
  routes: ReadonlyMap<RouteSource, LoweredRoute>,
  steps: PlanSteps,
  program: Program,
): Served {
  const isAsked = program.portal !== undefined
  const known = [...(isAsked ? routes : [])].flatMap(([source, { route }]) =>
    source.documentation ? [] : [[source.key, route] as const],
  )
  return { routes: Object.fromEntries(known), step: (id) => steps.get(id), errors: errorsOf(program.gateway) }
}

/** Issuers that routes, logins, the engine, the control API or the portal use. */
function issuersUsed(
  steps: PlanBody["steps"],
  {
    authz,
    control,
    portal,
    oidcClients = {},
  }: Pick<PlanBody, "authz" | "control" | "portal" | "oidcClients">,
): Set<string> {
  const named = [authz?.auth?.issuers, control?.issuers].flatMap((issuers) => Object.keys(issuers ?? {}))
  const clients = [
    ...Object.values(oidcClients),
    ...(portal?.signIn === undefined ? [] : [portal.signIn.client]),
  ]
  const logins = clients.map(({ issuer }) => issuer)
  return new Set([...namedBy(Object.values(steps), "issuers"), ...named, ...logins])
}

/** Lowers all issuers, so that each is checked, and returns those in use. */
function lowerIssuers(
  program: Program,
  values: Values,
  used: ReadonlySet<string>,
  report: Report,
): PlanBody["issuers"] {
  const issuers: PlanBody["issuers"] = {}
  for (const declared of program.all("issuer")) {
    const issuer = lowerIssuer(declared, values, report)
    if (issuer !== undefined && used.has(declared.name)) issuers[declared.name] = issuer
  }
  return issuers
}

function usedIn(routes: Iterable<LoweredRoute>, onUnmatched: readonly Lowered[]): Set<StepId> {
  const used = new Set<StepId>()
  collect(onUnmatched, used)
  for (const { inbound, backend, outbound, onError } of routes)
    for (const list of [inbound, backend, outbound, onError]) collect(list, used)
  return used
}

function collect(steps: readonly Lowered[], used: Set<StepId>): void {
  for (const { id, inside } of steps) {
    used.add(id)
    for (const list of Object.values(inside)) collect(list, used)
  }
}
