import { createMemoryCache } from "../../cache/memory.ts"
import { createVerifier } from "../../identity/issuer.ts"
import { createKeyTable } from "../../identity/keys.ts"
import { createMemoryLimiter } from "../../limits/memory.ts"
import type { Plan } from "../../plan/plan.ts"
import { systemClock } from "../../policies/clock.ts"
import { canonicalPath } from "../../policies/messages/canonical-path.ts"
import type { Authorizer } from "../../policies/policy.ts"
import { UrlBackends } from "../backends/backends-by-url.ts"
import { Deadlines } from "../backends/deadlines.ts"
import { defaultPatience } from "../backends/patience.ts"
import { Pools } from "../backends/pools.ts"
import { problemStatus } from "../exchange/problem.ts"
import { LoadError } from "../generation/load-error.ts"
import { LoginPaths } from "../generation/login-paths.ts"
import { lostRoutes, whyMatched } from "../generation/lost-routes.ts"
import { planOfProcess } from "../generation/plan-of-process.ts"
import { matchableOf, type Provisioned, provision } from "../generation/provision.ts"
import type { GatewayDependencies } from "../generation/resources.ts"
import { HostRoutes } from "../routes/host-routes.ts"
import { unmatched } from "../routes/unmatched.ts"
import { believingVerifier } from "./effectless.ts"
import { explainLogin } from "./explain-login.ts"
import { explainRequest, shownSections } from "./explain-request.ts"
import { planOfRoute } from "./plan-of-route.ts"
import type { Rehearsal } from "./rehearsal.ts"
import type { RequestExplanation, RequestQuestion } from "./request-explanation.ts"
import { unfold } from "./unfold.ts"

/** Where `env()` and `file()` of the plan read from. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly folder: string
}

/**
 * Explains a request from a plan alone, without a running process; no backend, issuer or engine is called. Unset variables get a placeholder that
 * matches nothing. When something cannot be provisioned here, the explanation says so and shows the steps without their outcome.
 */
export async function explainOffline(
  plan: Plan,
  question: RequestQuestion,
  surroundings: Surroundings,
): Promise<RequestExplanation> {
  const at = question.target.indexOf("?")
  const routes = routesOf(plan)
  const path = canonicalPath(at === -1 ? question.target : question.target.slice(0, at), routes.forms)
  const login = path === undefined ? undefined : new LoginPaths(plan.plan).find(path, question.host)
  if (path !== undefined && login !== undefined) {
    const { method, host, ip } = question
    return explainLogin(plan, login, { request: { method, path, host, ip }, live: false }, question)
  }
  const match = path === undefined ? undefined : routes.find(question.method, path, question.host)
  const served = match !== undefined && "route" in match ? match : askedAbout(plan, question, path)
  const key = served !== undefined && "route" in served ? served.route.key : undefined
  const cut = planOfRoute(plan, key, surroundings.environment)
  const pools = new Pools()
  const made: { rehearsal?: Rehearsal } = {}
  const dependencies = dependenciesOf(surroundings, pools, () => made.rehearsal)
  let ready: Provisioned | undefined
  try {
    const own = planOfProcess(cut.plan, surroundings.environment)
    ready = await provision(own, { dependencies, gatewayState: { draining: false } }, undefined)
    const explained = await explainRequest(question, {
      ...{ generation: ready.generation, resources: ready.resources, dependencies, live: false },
      waiting: { clock: systemClock, deadlines: new Deadlines(), patience: defaultPatience },
      onRehearsal: (rehearsal) => {
        made.rehearsal = rehearsal
      },
    })
    return withLost({ ...explained, trouble: troubleOf(cut.unset) }, plan, match, question, path)
  } catch (error) {
    if (!(error instanceof LoadError)) throw error
    return shownOnly(plan, { question, path, match, key }, error.problems)
  } finally {
    ready?.generation.retire()
    await pools.destroy()
  }
}

/** The route that a preflight asks about. */
function askedAbout(plan: Plan, { method, headers, host }: RequestQuestion, path = ""): Found | undefined {
  const [, wanted] = headers.find(([name]) => name.toLowerCase() === "access-control-request-method") ?? []
  return method === "OPTIONS" && wanted !== undefined ? routesOf(plan).find(wanted, path, host) : undefined
}

type Found = ReturnType<ReturnType<typeof routesOf>["find"]>

/** Adds the routes that did not match. They are searched in the whole plan, because the provisioned plan contains only one route. */
function withLost(
  explained: RequestExplanation,
  plan: Plan,
  match: Found | undefined,
  { method, host }: RequestQuestion,
  path: string | undefined,
): RequestExplanation {
  if (match === undefined || path === undefined) return explained
  const key = "route" in match ? match.route.key : undefined
  // The route that a preflight asks about responds to it.
  if (explained.route !== null && explained.route.key !== key) return explained
  const lost = lostRoutes(plan, { method, path, authority: host }, key)
  const why = whyMatched(match, lost)
  if (match.kind !== "method") return { ...explained, lost, why }
  const found = unmatched(match, plan.plan.gateway?.errors ?? "problem")
  const verdict = {
    kind: "answered",
    status: problemStatus(found),
    problem: found.name,
    assuming: [],
  } as const
  return { ...explained, lost, why, verdict }
}

/** The explanation of a plan that could not be provisioned: the route and its steps, without a rehearsal. */
function shownOnly(
  plan: Plan,
  about: {
    readonly question: RequestQuestion
    readonly path: string | undefined
    readonly match: Found | undefined
    readonly key: string | undefined
  },
  trouble: readonly string[],
): RequestExplanation {
  const { question, match, key } = about
  const { method, host, ip, target } = question
  const path = about.path ?? target
  const route = key === undefined ? undefined : plan.plan.routes[key]
  const lost = match === undefined ? [] : lostRoutes(plan, { method, path, authority: host }, key)
  const base = { request: { method, path, host, ip }, live: false, lost, verdict: null, trouble }
  const why = match === undefined ? "the path has no canonical form" : whyMatched(match, lost)
  if (key === undefined || route === undefined || match?.kind !== "found")
    return { ...base, why, route: null, sections: [] }
  const { api, version, operation } = route
  const place = plan.origins[`routes.${key}`] ?? ""
  return {
    ...{ ...base, why, sections: shownSections(unfold(plan, key, route)) },
    route: { key, place, api, version, operation, parameters: { ...match.parameters } },
  }
}

function routesOf(plan: Plan) {
  const routes = new HostRoutes<ReturnType<typeof matchableOf>>()
  for (const [key, route] of Object.entries(plan.plan.routes)) routes.add(matchableOf(key, route, plan))
  return routes
}

function troubleOf(unset: readonly string[]): string[] {
  return unset.map((name) => `the environment variable ${name} is not set here`)
}

/** What steps need, without the outside world: nothing is asked and nothing is counted. */
function dependenciesOf(
  { environment, folder }: Surroundings,
  pools: Pools,
  rehearsal: () => Rehearsal | undefined,
): GatewayDependencies {
  const nobody: Authorizer = {
    check: () => Promise.reject(new Error("the engine is not called")),
    batch: () => Promise.reject(new Error("the engine is not called")),
    change: () => Promise.reject(new Error("the engine is not called")),
  }
  return {
    environment,
    folder,
    createVerifier: (settings) =>
      "discovery" in settings.source ? believingVerifier(rehearsal) : createVerifier(settings),
    createKeyTable: (entries) => createKeyTable(entries),
    limiter: createMemoryLimiter(),
    quotas: { take: () => ({ allowed: true }), add: () => undefined },
    authorizer: nobody,
    cache: createMemoryCache(),
    http: { send: () => Promise.reject(new Error("no request is sent")) },
    backendsByUrl: new UrlBackends(pools),
    traceLog: { write: () => undefined },
    meter: { add: () => undefined },
    pools,
    clock: systemClock,
  }
}
