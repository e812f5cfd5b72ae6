import { randomBytes } from "node:crypto"
import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"
import { SecretKey } from "../../expression/secret-key.ts"
import type { Plan } from "../../plan/plan.ts"
import { isSharing, type Step as StepPlan } from "../../plan/steps.ts"
import { isPreflight } from "../../policies/access/cors.ts"
import { type Problem, problem } from "../../policies/messages/answer.ts"
import { HeaderList } from "../../policies/messages/header-list.ts"
import type { Outcome } from "../../policies/policy.ts"
import { runSteps } from "../../policies/run-steps.ts"
import { BackendClient } from "../backends/backends.ts"
import { pathOf } from "../backends/upstream-path.ts"
import type { Waiting } from "../exchange/answer-stream.ts"
import { takeIn } from "../exchange/intake.ts"
import { LiveExchange } from "../exchange/live-exchange.ts"
import { problemStatus } from "../exchange/problem.ts"
import type { Generation, LiveRoute } from "../generation/generation.ts"
import { Held } from "../generation/held.ts"
import { LoginPaths } from "../generation/login-paths.ts"
import { lostRoutes, whyMatched } from "../generation/lost-routes.ts"
import type { GatewayDependencies, Resources } from "../generation/resources.ts"
import { StepTable } from "../generation/step-table.ts"
import type { Match } from "../routes/routes.ts"
import { unmatched } from "../routes/unmatched.ts"
import { upgradeRefusal } from "../tunnels/upgrade-refusal.ts"
import {
  assumingKeys,
  assumingVerifier,
  explainingAuthorizer,
  lookingLimiter,
  lookingQuotas,
  unaskedDecisionPoint,
} from "./effectless.ts"
import { explainLogin } from "./explain-login.ts"
import { hideSecrets } from "./hidden-secrets.ts"
import {
  assumingPasswords,
  isClaimFault,
  lacksClaims,
  present,
  signsAs,
  subscriberOf,
  unaskedIntrospection,
} from "./named-caller.ts"
import { isSent, Rehearsal } from "./rehearsal.ts"
import type {
  Answerer,
  ExplainedStep,
  RequestExplanation,
  RequestQuestion,
  Verdict,
  WebSocketEnds,
} from "./request-explanation.ts"
import { backendIdentity } from "./shown-identity.ts"
import { type SectionName, type StepUse, sectionNames, type Unfolded, unfold } from "./unfold.ts"

/** What an explanation needs: a generation and the resources of its steps. */
export interface Ready {
  readonly generation: Generation
  readonly resources: Resources
  readonly dependencies: GatewayDependencies
  readonly waiting: Waiting
  /** False: only the text is available; counts, tuples and issued keys are not known. */
  readonly live: boolean
  /** Called with each rehearsal before it runs, for parts created earlier. */
  readonly onRehearsal?: (rehearsal: Rehearsal) => void
}

/** Explains a request as the generation would handle it; nothing is sent, written or counted. */
export async function explainRequest(question: RequestQuestion, ready: Ready): Promise<RequestExplanation> {
  return (await explainPreflight(question, ready)) ?? explainServed(question, ready)
}

/** Undefined: not a preflight, or no `cors` responds to it; then it is handled like any other request. */
async function explainPreflight(
  question: RequestQuestion,
  ready: Ready,
): Promise<RequestExplanation | undefined> {
  const { generation, live } = ready
  const exchange = exchangeOf(question, ready)
  const intake = takeIn(exchange.request, question.target, generation.rules)
  if ("kind" in intake) return undefined
  exchange.take(intake)
  const match = preflightOf(exchange, generation)
  if (match?.kind !== "found") return undefined
  const { method, path, authority: host, ip } = exchange
  const { unfolded, verdict } = await passThrough(question, ready, exchange, match, true)
  if (verdict === undefined) return undefined
  return {
    ...{ request: { method, path, host, ip }, live, lost: [], trouble: [], verdict },
    why: "it is a preflight request: the `cors` of the requested route responds",
    route: routeOf(generation.plan, match.route, match.parameters),
    sections: shownSections(unfolded),
  }
}

/** Explains with the running generation, from the head of the request on. */
async function explainServed(question: RequestQuestion, ready: Ready): Promise<RequestExplanation> {
  const { generation, live } = ready
  const exchange = exchangeOf(question, ready)
  const intake = takeIn(exchange.request, question.target, generation.rules)
  if ("kind" in intake) return refusedAtOnce(question, live, intake)
  exchange.take(intake)
  const login = new LoginPaths(generation.plan.plan).find(intake.path, intake.authority)
  if (login !== undefined) {
    const request = { method: exchange.method, path: intake.path, host: intake.authority, ip: intake.ip }
    return explainLogin(generation.plan, login, { request, live }, question)
  }
  const match = generation.routes.find(exchange.method, intake.path, intake.authority)
  const asked = { method: exchange.method, path: intake.path, authority: intake.authority }
  const key = "route" in match ? match.route.key : undefined
  const lost = lostRoutes(generation.plan, asked, key)
  const request = { method: asked.method, path: asked.path, host: asked.authority, ip: intake.ip }
  const base = { request, live, lost, why: whyMatched(match, lost), trouble: [] }
  if (match.kind !== "found") {
    const found = unmatched(match, generation.errors)
    const assuming = generation.plan.plan.gateway?.onUnmatched?.length
      ? ["the `on-error` of the gateway's documents may change it; it is not run here"]
      : []
    return { ...base, route: null, sections: [], verdict: verdictOf(found, undefined, assuming) }
  }
  // An upgrade with another method or protocol is ignored, and the request is handled normally.
  const upgrades = intake.wantsWebSocket && exchange.method === "GET"
  const refusal = upgrades ? upgradeRefusal(exchange, match.route.plan.websocket, true) : undefined
  if (refusal !== undefined) {
    const { key: own, plan: route } = match.route
    return {
      ...{ ...base, route: routeOf(generation.plan, match.route, match.parameters) },
      sections: shownSections(unfold(generation.plan, own, route)),
      verdict: verdictOf(refusal, undefined, []),
    }
  }
  const { unfolded, verdict: found = null } = await passThrough(question, ready, exchange, match, false)
  const verdict =
    upgrades && found?.kind === "forwarded" ? { ...found, websocket: tunnelOf(match.route.plan) } : found
  return {
    ...base,
    route: routeOf(generation.plan, match.route, match.parameters),
    sections: shownSections(unfolded),
    verdict,
  }
}

function tunnelOf({ websocket }: LiveRoute["plan"]): WebSocketEnds {
  return websocket ?? { idleMs: null, expireWithToken: false, closeWhenRemoved: false }
}

/** Runs the route's steps without their effects outside of the request. */
async function passThrough(
  question: RequestQuestion,
  ready: Ready,
  exchange: LiveExchange,
  { route, parameters }: Match<LiveRoute> & { readonly kind: "found" },
  sharing: boolean,
): Promise<{ readonly unfolded: Unfolded; readonly verdict: Verdict | undefined }> {
  exchange.route = route
  exchange.parameters = parameters
  const unfolded = unfold(ready.generation.plan, route.key, route.plan)
  const verdict = await rehearse(question, ready, exchange, unfolded, sharing)
  return { unfolded, verdict: verdict && withoutSecrets(verdict, ready.resources.secrets) }
}

/** Steps may put secrets into the query for the backend. An operator with the role `viewer` may ask for explanations, and must not learn them. */
function withoutSecrets(verdict: Verdict, secrets: ReadonlyMap<string, string>): Verdict {
  if (verdict.kind === "forwarded") return { ...verdict, path: hideSecrets(verdict.path, secrets) }
  const { cause } = verdict
  return cause === undefined ? verdict : { ...verdict, cause: hideSecrets(cause, secrets) }
}

/** Sections and their steps in the form of the explanation. */
export function shownSections({ sections }: Unfolded): RequestExplanation["sections"] {
  return sectionNames
    .filter((name) => sections[name].length > 0)
    .map((name) => ({ name: name === "onError" ? "on-error" : name, steps: sections[name].map(shownStep) }))
}

/** A step for the answer. The ids of inner steps are left out, because the steps themselves are listed. */
function shownStep({ at, place, state, step, notes, limit, quota, proof, inside }: StepUse): ExplainedStep {
  const lists = Object.fromEntries(inside.map((each) => [each.place.split(".")[0] ?? "", []]))
  return {
    ...{ at, place, state, step: { ...step, ...lists } as StepPlan, notes: [...notes] },
    ...(limit === undefined ? {} : { limit }),
    ...(quota === undefined ? {} : { quota }),
    ...(proof === undefined ? {} : { proof }),
    inside: inside.map(({ place: name, uses }) => ({ place: name, steps: uses.map(shownStep) })),
  }
}

/** The matched route. */
function routeOf(
  plan: Plan,
  { key, plan: route }: LiveRoute,
  parameters: Readonly<Record<string, string>>,
): RequestExplanation["route"] {
  const { api, version, operation } = route
  const place = plan.origins[`routes.${key}`] ?? ""
  return { key, place, api, version, operation, parameters: { ...parameters } }
}

/** A refusal of the head. */
function refusedAtOnce(
  { method, target, host, ip }: RequestQuestion,
  live: boolean,
  found: Problem,
): RequestExplanation {
  return {
    request: { method, path: target, host, ip },
    ...{ live, route: null, lost: [], sections: [], trouble: [] },
    why: "the gateway refuses the request head before it looks for a route",
    verdict: verdictOf(found, undefined, []),
  }
}

/** The route whose `cors` responds to a preflight, found as in the pipeline. */
function preflightOf(exchange: LiveExchange, { routes }: Generation): Match<LiveRoute> | undefined {
  if (!isPreflight(exchange)) return undefined
  const { path, authority } = exchange.intake
  const own = routes.find("OPTIONS", path, authority)
  if (own.kind === "found" && own.route.method === "OPTIONS") return undefined
  const asked = routes.find(exchange.headers.get("access-control-request-method") ?? "", path, authority)
  return asked.kind === "found" && asked.route.cors !== undefined ? asked : undefined
}

/** An exchange for a request that was never received. */
function exchangeOf(question: RequestQuestion, { generation, waiting }: Ready): LiveExchange {
  const { method, target, host, ip, headers, body } = question
  const socket = new Socket()
  Object.defineProperty(socket, "remoteAddress", { value: ip })
  const message = new IncomingMessage(socket)
  message.method = method
  message.url = target
  message.httpVersionMajor = 1
  message.httpVersionMinor = 1
  const length = body === undefined ? [] : ["content-length", String(body.length)]
  message.rawHeaders = ["host", host, ...headers.flat(), ...length]
  if (body !== undefined) message.push(body)
  message.push(null)
  message.complete = true
  return new ExplainedExchange(
    {
      ...{ request: message, reply: new ServerResponse(message), upgrade: undefined },
      listener: { closing: false, transport: {} },
    },
    generation,
    waiting,
    "explained",
  )
}

/**
 * Explanations show what expressions make. Their `hmac` has a random key: otherwise anyone who may ask for an explanation could have any content
 * signed.
 */
class ExplainedExchange extends LiveExchange {
  protected override get named(): Generation["values"] {
    const { values } = this.generation
    return new Map(
      [...values].map(([name, value]) => [
        name,
        value instanceof SecretKey ? new SecretKey(randomBytes(32).toString("hex")) : value,
      ]),
    )
  }
}

/** Runs a rehearsal: assumptions replace what only a real request has, and each is named in the answer. */
async function rehearse(
  question: RequestQuestion,
  ready: Ready,
  exchange: LiveExchange,
  unfolded: Unfolded,
  sharing: boolean,
): Promise<Verdict | undefined> {
  const rehearsal = new Rehearsal(unfolded, {
    before: (plan, about) => present(question, plan, about),
    shown: (about) => backendIdentity(ready.generation.plan, about),
    after(plan, about, refusal) {
      // The claims of the token are not known.
      if (rehearsal.current?.state === "unknown" && plan.kind === "introspect" && isClaimFault(refusal))
        return undefined
      if (plan.kind === "validate-certificate" && question.claims !== undefined) {
        rehearsal.assume("the client is assumed to present a certificate that `auth certificate` accepts")
        about.claims = question.claims
        return undefined
      }
      if (signsAs(question, plan)) {
        rehearsal.assume("the request is assumed to have a valid signature")
        about.claims = { sub: plan.caller }
        return undefined
      }
      if (plan.kind === "oidc-session" && question.claims !== undefined) {
        rehearsal.assume("the request is assumed to have a session of the user")
        about.claims = question.claims
        return undefined
      }
      if (!lacksClaims(question, plan, refusal)) return refusal
      rehearsal.assume("the token is assumed to have the required claims")
      about.claims = question.claims
      return undefined
    },
  })
  ready.onRehearsal?.(rehearsal)
  const steps = stepsOf(question, ready, rehearsal, unfolded)
  const run = async (name: SectionName): Promise<Outcome> => {
    exchange.section = name === "onError" ? "on-error" : name
    const uses = unfolded.sections[name].filter(({ step }) => !sharing || isSharing(step))
    const own = uses.map(({ id }) => steps.get(id))
    return runSteps(own, exchange)
  }
  const { intake, generation } = exchange
  try {
    if (typeof intake.body === "number" && intake.body > generation.bodyBytesMax)
      return verdictOf(problem("body-too-large"), undefined, [])
    let outcome = await run("inbound")
    if (sharing && outcome === undefined) return undefined
    outcome ??= await run("backend")
    if (outcome === undefined) {
      if (exchange.response === undefined)
        exchange.respondWith({ status: 200, headers: new HeaderList(), body: undefined })
      outcome = await run("outbound")
    } else showSections(unfolded, isSent(outcome))
    return ending(outcome, exchange, rehearsal)
  } finally {
    exchange.end()
  }
}

/** Without a response it is not known which outbound steps would run. */
function showSections({ sections }: Unfolded, forwarded: boolean): void {
  const show = (use: StepUse): void => {
    if (use.state === "not-reached") use.state = "shown"
    for (const { uses } of use.inside) for (const each of uses) show(each)
  }
  if (forwarded)
    for (const name of ["outbound", "onError"] as const) for (const use of sections[name]) show(use)
}

/** How the request ends. */
function ending(outcome: Outcome, exchange: LiveExchange, rehearsal: Rehearsal): Verdict {
  const { assuming } = rehearsal
  if (isSent(outcome) && exchange.backend !== undefined) {
    const { name } = exchange.backend
    const backend = exchange.backend instanceof BackendClient ? exchange.backend : undefined
    const [target] = backend?.targets ?? []
    if (backend?.isAway === true) return awayVerdict(exchange, rehearsal, backend.awayReason)
    return {
      ...{ kind: "forwarded", backend: name, method: exchange.sentMethod ?? exchange.method },
      targets: backend?.states() ?? [],
      path: target === undefined ? "" : pathOf(exchange, target),
      assuming,
    }
  }
  const use = exchange.answeredBy === undefined ? undefined : rehearsal.useOf(exchange.answeredBy.id)
  // A step whose body could not be read never started.
  if (use !== undefined && !isSent(outcome)) use.state = "answered"
  if (outcome !== undefined) return verdictOf(outcome, use, assuming, exchange.response?.status)
  return {
    ...{ kind: "answered", status: exchange.response?.status ?? 200, assuming },
    cause: "the route has no backend: its steps produce the response",
  }
}

/** Health checks or breakers block all requests to the backend. */
function awayVerdict(exchange: LiveExchange, rehearsal: Rehearsal, cause: string): Verdict {
  const use = exchange.answeredBy === undefined ? undefined : rehearsal.useOf(exchange.answeredBy.id)
  if (use !== undefined) use.state = "answered"
  const found = problem("backend-unavailable", { cause })
  return verdictOf(found, use, rehearsal.assuming)
}

/** The verdict for an outcome of the pipeline. */
function verdictOf(
  outcome: NonNullable<Outcome>,
  use: StepUse | undefined,
  assuming: readonly string[],
  status = 200,
): Verdict {
  const by: { by?: Answerer } = use === undefined ? {} : { by: { kind: use.step.kind, place: use.place } }
  if (outcome.kind === "problem") {
    const { name, cause } = outcome
    return { ...by, kind: "answered", status: problemStatus(outcome), problem: name, cause, assuming }
  }
  if (outcome.kind === "found") return { ...by, kind: "answered", status, assuming }
  return { ...by, kind: "answered", status: outcome.status, cause: outcome.cause, assuming }
}

/** The steps of the route, with verifiers and keys that believe what the question assumes. */
function stepsOf(
  question: RequestQuestion,
  { generation, resources, dependencies, live }: Ready,
  rehearsal: Rehearsal,
  { steps }: Unfolded,
): StepTable {
  const body = { ...generation.plan.plan, steps }
  const verifiers = [...resources.verifiers].map(
    ([name, { value }]) => [name, held(assumingVerifier(value, question))] as const,
  )
  const keys = assumingKeys(resources.keys.value, subscriberOf(question, generation.plan), rehearsal, live)
  const unasked = unaskedDecisionPoint(rehearsal)
  const decisionPoints = new Map(
    [...resources.decisionPoints].map(([name, { value }]) => [
      name,
      held({ ...unasked, pdpState: value.pdpState }),
    ]),
  )
  const introspections = [...resources.introspections].map(
    ([name, { value }]) => [name, held(unaskedIntrospection(value, name, question, rehearsal))] as const,
  )
  const users = [...resources.users].map(
    ([name, { value }]) => [name, held(assumingPasswords(value, question))] as const,
  )
  const seen: Resources = {
    ...{ ...resources, verifiers: new Map(verifiers), keys: held(keys), decisionPoints },
    ...{
      introspections: new Map(introspections),
      users: new Map(users),
      shared: undefined,
      sessions: undefined,
    },
  }
  const counters = resources.shared?.value ?? dependencies.limiter
  const effectless: GatewayDependencies = {
    ...dependencies,
    waited: undefined,
    limiter: lookingLimiter(live ? counters : undefined, rehearsal),
    quotas: lookingQuotas(live ? dependencies.quotas : undefined, rehearsal),
    authorizer: explainingAuthorizer(live ? dependencies.authorizer : undefined, rehearsal),
  }
  return new StepTable(body, seen, effectless, undefined, rehearsal.policies())
}

function held<T>(value: T): Held<T> {
  return new Held("", value, () => undefined)
}
