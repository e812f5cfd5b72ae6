import { tupleWords } from "../../runtime/check/explain-text.ts"
import type { TupleKey } from "../../runtime/check/ports.ts"
import { LoadError } from "../../runtime/gateway/generation/load-error.ts"
import { type InProcessGateway, openInProcess } from "../../runtime/gateway/in-process/in-process-gateway.ts"
import type { Passage } from "../../runtime/gateway/in-process/passage.ts"
import type {
  BackendAnswer,
  BackendRequest,
  ClientRequest,
  World,
} from "../../runtime/gateway/in-process/world.ts"
import { digestOf } from "../../runtime/plan/canonical.ts"
import type { Plan, PlanBody } from "../../runtime/plan/plan.ts"
import { type CallerKind, callersOf, issuedKeys, type ShownBy, type Side, unplayedOf } from "./callers.ts"
import { ModelExamples } from "./model-examples.ts"
import { type FactChange, factChanges, outcomeOf, type RequestOutcome } from "./outcome.ts"
import { digestOfKind, digestOfRoute } from "./route-part.ts"
import { sampleRequest } from "./sample-request.ts"

/** What another plan means for one kind of callers of a route. */
export interface RequestDifference {
  /** Keys of the routes that treat the callers so: the first was compared, and the others have the same steps. */
  readonly routes: readonly string[]
  readonly caller: string
  /** `opens`: refused before, and not now; `closes`: the reverse; `changes`: what callers or backends notice is different. */
  readonly effect: "opens" | "closes" | "changes"
  readonly before: RequestOutcome
  readonly after: RequestOutcome
  readonly facts: readonly FactChange[]
}

/** How requests are treated by two plans. */
export interface RequestComparison {
  readonly routes: number
  /** Routes whose part of the plan is different: the others treat every request as before. */
  readonly concerned: number
  /** Of these, the ones that were not compared because of `requestsMax`. */
  readonly left: number
  readonly requests: number
  readonly differences: readonly RequestDifference[]
  /** Kinds of credentials that concerned routes take and that are not played, in words. */
  readonly unplayed: readonly string[]
}

/** A plan, and where its `env()` and `file()` read from. */
export interface PlanToCompare {
  readonly plan: Plan
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly folder: string
}

/** Requests that are sent to each plan: about ten seconds. */
const requestsMax = 20_000
/** Tuples that are added one after the other until a caller has what a route asks for. */
const grantsMax = 8
/** 2026-01-01T00:00:00Z: certificates and tokens of the comparison depend on no clock. */
const startMs = Date.UTC(2026, 0, 1)

/**
 * Sends the same requests through both plans in this process, and compares what becomes of them: for each route whose part of the plan differs, a
 * request of every kind of callers that the route distinguishes, with and without the relations that it asks for. Backends always answer 200.
 * A text is the reason why a plan cannot run here, for example a file that is missing.
 */
export async function compareRequests(
  plans: Readonly<Record<Side, PlanToCompare>>,
): Promise<RequestComparison | string> {
  const bodies = { before: plans.before.plan.plan, after: plans.after.plan.plan }
  const keys = [
    ...new Set([...Object.keys(bodies.before.routes), ...Object.keys(bodies.after.routes)]),
  ].sort()
  const concerned = keys.filter(
    (key) => digestOfRoute(bodies.before, key) !== digestOfRoute(bodies.after, key),
  )
  const none = {
    routes: keys.length,
    concerned: concerned.length,
    left: 0,
    requests: 0,
    differences: [],
    unplayed: [],
  }
  if (concerned.length === 0) return none
  const pair = await Pair.open(plans).catch((error: unknown) => {
    if (error instanceof LoadError) return error.problems[0] ?? error.message
    throw error
  })
  if (typeof pair === "string") return pair
  try {
    const differences: RequestDifference[] = []
    let left = 0
    for (const routes of kindsOf(concerned, bodies)) {
      if (pair.requests >= requestsMax) left += routes.length
      else differences.push(...(await pair.compare(routes)))
    }
    const unplayed = new Set(
      concerned.flatMap((key) => Object.values(bodies).flatMap((body) => unplayedOf(body, key))),
    )
    return { ...none, left, requests: pair.requests, differences, unplayed: [...unplayed].sort() }
  } finally {
    pair.close()
  }
}

/** Routes that differ only in their places are one kind. What becomes of the requests of a new or removed route depends on the others around it. */
function kindsOf(keys: readonly string[], { before, after }: Readonly<Record<Side, PlanBody>>): string[][] {
  const kinds = new Map<string, string[]>()
  for (const key of keys) {
    const isKept = before.routes[key] !== undefined && after.routes[key] !== undefined
    const kind = isKept ? `${digestOfKind(before, key)} ${digestOfKind(after, key)}` : key
    const known = kinds.get(kind)
    if (known === undefined) kinds.set(kind, [key])
    else known.push(key)
  }
  return [...kinds.values()]
}

/** Tuples by store. */
type Tuples = Readonly<Record<string, readonly TupleKey[]>>

/** The circumstances of one request, the same for both plans. */
interface Case {
  readonly request: ClientRequest
  readonly caller: CallerKind
  readonly tuples: Tuples
  /** Whether decision points permit. */
  readonly permits: boolean
}

/** The two plans, open in this process. */
class Pair {
  requests = 0
  readonly #bodies: Readonly<Record<Side, PlanBody>>
  readonly #gateways: Readonly<Record<Side, InProcessGateway>>
  readonly #issued: World["issued"]
  readonly #models: ModelExamples
  readonly #tokens = new Map<string, string>()

  private constructor(
    bodies: Readonly<Record<Side, PlanBody>>,
    gateways: Readonly<Record<Side, InProcessGateway>>,
  ) {
    this.#bodies = bodies
    this.#gateways = gateways
    this.#issued = issuedKeys([bodies.before, bodies.after])
    this.#models = new ModelExamples(bodies)
  }

  static async open({ before, after }: Readonly<Record<Side, PlanToCompare>>): Promise<Pair> {
    const world = worldOf({}, new Map(), false)
    const old = await openInProcess(before.plan, world, before)
    try {
      const next = await openInProcess(after.plan, world, after)
      return new Pair({ before: before.plan.plan, after: after.plan.plan }, { before: old, after: next })
    } catch (error) {
      old.close()
      throw error
    }
  }

  close(): void {
    for (const gateway of Object.values(this.#gateways)) gateway.close()
  }

  /** What is different for the callers of routes of one kind, each kind of callers once. */
  async compare(routes: readonly string[]): Promise<RequestDifference[]> {
    const [key = ""] = routes
    const found: RequestDifference[] = []
    const requests = [sampleRequest(this.#bodies.before, key), sampleRequest(this.#bodies.after, key)]
    const distinct = new Map(
      requests.flatMap((each) => (each === undefined ? [] : [[digestOf(textOf(each)), each]])),
    )
    for (const caller of callersOf(this.#bodies, key))
      for (const request of distinct.values()) {
        const difference = await this.#compareCaller(routes, caller, request)
        found.push(...difference.filter((each) => !found.some((known) => isSame(known, each))))
      }
    return found
  }

  /**
   * Without relations, then with those that the old plan asks for, then with those of the new one, and with the smallest examples of what another
   * model decides differently.
   */
  async #compareCaller(
    routes: readonly string[],
    caller: CallerKind,
    request: ClientRequest,
  ): Promise<RequestDifference[]> {
    const bare: Case = { request, caller, tuples: {}, permits: false }
    const found = await this.#differs(routes, bare)
    const seen = new Set([digestOf(bare.tuples)])
    for (const side of ["before", "after"] as const) {
      const granted = await this.#granted(side, bare)
      const digest = granted === undefined ? undefined : digestOf(granted.tuples)
      if (granted === undefined || digest === undefined || seen.has(digest)) continue
      seen.add(digest)
      const relations = Object.values(granted.tuples).flat().map(relationWords)
      const words = relations.length === 0 ? "permitted" : `who is ${relations.join(" and ")}`
      found.push(
        ...(await this.#differs(routes, {
          ...granted,
          caller: { ...caller, name: `${caller.name}, ${words}` },
        })),
      )
    }
    for (const example of await this.#examples(bare)) {
      const words = Object.values(example.tuples).flat().map(tupleWords)
      const name = `${caller.name}, with ${words.join(" and ")}`
      found.push(...(await this.#differs(routes, { ...example, caller: { ...caller, name } })))
    }
    return found
  }

  /** Cases with tuples by which the two models decide the route's questions differently. */
  async #examples(bare: Case): Promise<Case[]> {
    if (!this.#models.differ) return []
    const cases = new Map<string, Case>()
    for (const side of ["before", "after"] as const)
      for (const decision of (await this.#send(side, bare)).decisions)
        for (const tuples of this.#models.examples(decision)) {
          const each = { ...bare, tuples: { [decision.store]: tuples }, permits: true }
          cases.set(digestOf(each.tuples), each)
        }
    return [...cases.values()]
  }

  async #differs(routes: readonly string[], each: Case): Promise<RequestDifference[]> {
    const before = outcomeOf(await this.#send("before", each))
    const after = outcomeOf(await this.#send("after", each))
    const facts = factChanges(before, after)
    if (facts.length === 0) return []
    return [{ routes, caller: each.caller.name, effect: effectOf(before, after), before, after, facts }]
  }

  /** The case with tuples that the plan of `side` lets pass; undefined: it asks for no relation, or none can be added. */
  async #granted(side: Side, bare: Case): Promise<Case | undefined> {
    let each = { ...bare, permits: true }
    for (let grants = 0; grants < grantsMax; grants += 1) {
      const { decisions, sent } = await this.#send(side, each)
      const denied = decisions.filter(({ allowed }) => allowed === false)
      if (denied.length === 0) {
        const isAsked =
          sent.some(({ backend }) => backend === undefined) || Object.keys(each.tuples).length > 0
        return isAsked ? each : undefined
      }
      const next = await grantedOne(each.tuples, denied)
      if (next === undefined) return undefined
      each = { ...each, tuples: next }
    }
    return undefined
  }

  async #send(side: Side, { request, caller, tuples, permits }: Case): Promise<Passage> {
    const gateway = this.#gateways[side]
    await gateway.restart(worldOf(tuples, this.#issued, permits))
    this.requests += 1
    return gateway.send(request, this.#credentials(caller.shown))
  }

  /** Both plans get the same token: that of a caller does not change with the plan. */
  #credentials(shown: ShownBy) {
    if (shown.is === "nothing") return undefined
    if (shown.is === "key") return { key: shown.key }
    const id = JSON.stringify(shown)
    const token = this.#tokens.get(id) ?? this.#gateways[shown.side].token(shown)
    this.#tokens.set(id, token)
    return { token }
  }
}

/** The tuples with those that the first denied question lacks. */
async function grantedOne(tuples: Tuples, denied: Passage["decisions"]): Promise<Tuples | undefined> {
  for (const decision of denied) {
    const [miss] = (await decision.explain())?.misses ?? []
    if (miss === undefined || miss.remove.length > 0 || (miss.missing_context ?? []).length > 0) continue
    return { ...tuples, [decision.store]: [...(tuples[decision.store] ?? []), ...miss.add] }
  }
  return undefined
}

function worldOf(tuples: Tuples, issued: World["issued"], permits: boolean): World {
  return {
    timeMs: startMs,
    answer: (request) => answerOf(request, permits),
    tuples,
    issued,
    issuersDown: new Set(),
  }
}

/** Backends answer with an empty object; other services in a form that decision points understand, too. */
function answerOf({ backend }: BackendRequest, permits: boolean): BackendAnswer {
  const content = backend === undefined ? { decision: permits } : {}
  return {
    status: 200,
    headers: [["content-type", "application/json"]],
    body: Buffer.from(JSON.stringify(content)),
  }
}

function effectOf(before: RequestOutcome, after: RequestOutcome): RequestDifference["effect"] {
  if (before.kind === "refused" && after.kind !== "refused") return "opens"
  return before.kind !== "refused" && after.kind === "refused" ? "closes" : "changes"
}

/** Two requests of one kind of callers with the same difference tell it once. */
function isSame(a: RequestDifference, b: RequestDifference): boolean {
  return a.caller === b.caller && a.before.words === b.before.words && a.after.words === b.after.words
}

function relationWords({ relation, object }: TupleKey): string {
  return `${relation} of ${object}`
}

function textOf({ body, ...rest }: ClientRequest): object {
  return { ...rest, body: body?.toString("base64") ?? null }
}
