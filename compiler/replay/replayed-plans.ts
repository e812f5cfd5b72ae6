import { type InProcessGateway, openInProcess } from "../../runtime/gateway/in-process/in-process-gateway.ts"
import type { Passage } from "../../runtime/gateway/in-process/passage.ts"
import type { ClientRequest } from "../../runtime/gateway/in-process/world.ts"
import type { KindFacts } from "../../runtime/plan/facts.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import { kindFacts, type StepKind } from "../../runtime/plan/steps.ts"
import type { RecordedRequest } from "../../runtime/record/recorded-request.ts"
import type { RequestOutcome } from "../request-compare/outcome.ts"
import { areAlike, factChanges, outcomeOf } from "../request-compare/outcome.ts"
import { digestOfRoute } from "../request-compare/route-part.ts"
import { Lacks } from "./lacks.ts"
import { PlayedCallers } from "./played-callers.ts"
import { RecordedAnswers } from "./recorded-answers.ts"
import { RecordedWorld } from "./recorded-world.ts"
import type { PlanToReplay, ReplayGroup, Treated } from "./replay.ts"

type Side = "before" | "after"

/** One of the plans, open in this process, in the world of the record. */
interface OpenPlan {
  readonly gateway: InProcessGateway
  readonly body: PlanBody
  readonly answers: RecordedAnswers
  readonly world: RecordedWorld
  readonly lacks: Lacks
}

/** Bodies are not recorded; zeros of the same length stand for them, up to this length. */
const bodyBytesMax = 2 ** 16
const zeros = Buffer.alloc(bodyBytesMax)

/** Both plans, open in this process. */
export class ReplayedPlans {
  readonly #plans: Readonly<Record<Side, OpenPlan>>
  readonly #digest: string
  readonly #callers: PlayedCallers
  /** Routes by their key: whether everything that their requests depend on is the same in both plans. */
  readonly #sameRoutes = new Map<string, boolean>()
  #last: { readonly recorded: RecordedRequest; readonly request: ClientRequest } | undefined

  private constructor(plans: Readonly<Record<Side, OpenPlan>>, digest: string) {
    this.#plans = plans
    this.#digest = digest
    this.#callers = new PlayedCallers(plans.before.gateway, plans.after.gateway)
  }

  /** @throws LoadError when one of them cannot run here */
  static async open(
    { before, after }: { readonly before: PlanToReplay; readonly after: PlanToReplay },
    mark: (text: string) => string,
  ): Promise<ReplayedPlans> {
    const markOnce = remembered(mark)
    const stores = changedStores(before.plan.plan, after.plan.plan)
    const old = await openPlan(before, new RecordedAnswers(markOnce, new Set()))
    try {
      const next = await openPlan(after, new RecordedAnswers(markOnce, stores))
      return new ReplayedPlans({ before: old, after: next }, before.plan.digest)
    } catch (error) {
      old.gateway.close()
      throw error
    }
  }

  close(): void {
    for (const { gateway } of Object.values(this.#plans)) gateway.close()
  }

  /** That the request is treated as before, without sending it; undefined: it has to be sent. */
  isUnchanged(recorded: RecordedRequest): Treated | undefined {
    const { before, after } = this.#plans
    // A preflight is answered by the route that it asks about.
    if (recorded.method === "OPTIONS") return undefined
    const request = this.#requestOf(recorded)
    const key = before.gateway.routeOf(request)
    if (key === undefined || after.gateway.routeOf(request) !== key) return undefined
    let same = this.#sameRoutes.get(key)
    if (same === undefined) {
      same = digestOfRoute(before.body, key) === digestOfRoute(after.body, key)
      this.#sameRoutes.set(key, same)
    }
    return same ? { is: "unchanged", isOfOtherPlan: this.#isOfOtherPlan(recorded) } : undefined
  }

  /** The gateways find the route of one request object once. */
  #requestOf(recorded: RecordedRequest): ClientRequest {
    if (this.#last?.recorded !== recorded) this.#last = { recorded, request: requestOf(recorded) }
    return this.#last.request
  }

  #isOfOtherPlan({ plan }: RecordedRequest): boolean {
    return plan !== this.#digest
  }

  /** Sends a request through both plans. */
  async send(recorded: RecordedRequest): Promise<Treated> {
    const isOfOtherPlan = this.#isOfOtherPlan(recorded)
    const { before, after } = this.#plans
    const request = this.#requestOf(recorded)
    const credentials = this.#callers.credentialsOf(recorded)
    const known = recorded.outcome.route ?? `${recorded.method} without a route`
    if (typeof credentials === "string")
      return { isOfOtherPlan, is: "left", reason: credentials, route: known }
    const send = async (plan: OpenPlan, asked: ReadonlyMap<string, string> | undefined): Promise<Passage> => {
      plan.answers.begin(recorded, asked)
      await plan.gateway.restart(plan.world.of(recorded, this.#callers.issued))
      return plan.gateway.send(request, credentials)
    }
    const old = await send(before, undefined)
    const unlike = isOfOtherPlan ? undefined : unlikeRecorded(recorded, old)
    if (unlike !== undefined) return { isOfOtherPlan, is: "left", reason: unlike, route: known }
    const asked = new Map(before.answers.asked)
    const next = await send(after, asked)
    const route = next.finished.route ?? old.finished.route ?? known
    const reason = this.#lackOf(recorded, old, next, isOfOtherPlan)
    if (reason !== undefined) return { isOfOtherPlan, is: "left", reason, route }
    if (areAlike(old, next)) return { isOfOtherPlan, is: "same", route }
    const outcomes = { before: worded(old, before), after: worded(next, after) }
    const facts = factChanges(outcomes.before, outcomes.after)
    if (facts.length === 0) return { isOfOtherPlan, is: "same", route }
    return { isOfOtherPlan, is: "different", route, effect: effectOf(outcomes), ...outcomes, facts }
  }

  /** What the new plan needs and the record does not have. Steps that ran before as well have decided the recorded outcome. */
  #lackOf(
    recorded: RecordedRequest,
    old: Passage,
    next: Passage,
    isOfOtherPlan: boolean,
  ): string | undefined {
    const { before, after } = this.#plans
    const own = isOfOtherPlan ? (before.answers.lack ?? before.lacks.of(recorded, old, new Set())) : undefined
    if (own !== undefined) return own
    const known = new Set(isOfOtherPlan ? [] : old.steps.map(({ id }) => id))
    return after.answers.lack ?? after.lacks.of(recorded, next, known)
  }
}

const marksMax = 10_000

/** Both plans ask the same questions. */
function remembered(mark: (text: string) => string): (text: string) => string {
  const marks = new Map<string, string>()
  return (text) => {
    let found = marks.get(text)
    if (found === undefined) {
      found = mark(text)
      if (marks.size >= marksMax) marks.clear()
      marks.set(text, found)
    }
    return found
  }
}

async function openPlan(
  { plan, environment, folder }: PlanToReplay,
  answers: RecordedAnswers,
): Promise<OpenPlan> {
  const world = new RecordedWorld()
  const gateway = await openInProcess(plan, world.empty, {
    ...{ environment, folder },
    authorizer: answers.authorizer(),
    decisionPointOf: (name) => answers.authorizer(name),
  })
  return { gateway, body: plan.plan, answers, world, lacks: new Lacks(plan.plan) }
}

function changedStores(before: PlanBody, after: PlanBody): ReadonlySet<string> {
  const models = (plan: PlanBody, name: string) => plan.authz?.stores[name]?.model
  const names = Object.keys(after.authz?.stores ?? {})
  return new Set(names.filter((name) => models(before, name) !== models(after, name)))
}

/** The request as the client sent it. */
function requestOf({ method, target, host, headers, ip, bodyBytes }: RecordedRequest): ClientRequest {
  const length = bodyBytes === null ? 1 : Math.min(bodyBytes, bodyBytesMax)
  const fields: ClientRequest["headers"] = [["host", host], ...headers]
  const body = length === 0 ? undefined : zeros.subarray(0, length)
  return { method, target, ip, headers: fields, body }
}

/** Why the old plan's outcome is not the recorded one; undefined: it is. */
function unlikeRecorded(
  { outcome, bodyBytes }: RecordedRequest,
  { response, finished }: Passage,
): string | undefined {
  if (outcome.status === response.status && (outcome.problem ?? undefined) === finished.problem)
    return undefined
  if (outcome.status === 0) return "the client disconnected before it had a response"
  if (outcome.by !== null && isLimitKind(outcome.by[0]))
    return "a limit refused it when it was recorded: limits are not replayed"
  if (bodyBytes !== 0) return "the plan reads the body, which is not recorded"
  const [then, now] = [
    [outcome.status, outcome.problem ?? ""],
    [response.status, finished.problem ?? ""],
  ].map((words) => words.join(" ").trim())
  return `the old plan does not reproduce it: ${then} when it was recorded, ${now} in the replay`
}

/** A record may have kinds of steps that this version does not know. */
function isLimitKind(kind: string): boolean {
  const known: KindFacts | undefined = kindFacts(kind as StepKind)
  return known?.role === "limit"
}

/** The outcome; where the response of the backend is not recorded, its status is not known. */
function worded(passage: Passage, { world }: OpenPlan): RequestOutcome {
  const outcome = outcomeOf(passage)
  return world.isAssumed && outcome.kind === "served"
    ? { ...outcome, words: `sent to backend ${passage.finished.backend ?? ""}` }
    : outcome
}

function effectOf({ before, after }: Readonly<Record<Side, RequestOutcome>>): ReplayGroup["effect"] {
  if (before.kind === "refused" && after.kind !== "refused") return "opens"
  return before.kind !== "refused" && after.kind === "refused" ? "closes" : "changes"
}
