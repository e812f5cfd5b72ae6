import type { Route } from "../../../runtime/plan/resources.ts"
import type { PlanSchemas } from "../../openapi/plan-schemas.ts"
import { type Bound, type BoundBlock, headSpan, mentions, statementOf } from "../bind/bound.ts"
import type { RouteSource, Scope } from "../routes.ts"
import type { Backends } from "./backends.ts"
import { DescribedAuth } from "./described-auth.ts"
import { Memo } from "./memo.ts"
import { lowerMock } from "./mock.ts"
import type { Auth, Place, Places } from "./place.ts"
import { planRoute } from "./plan-route.ts"
import type { Policies, PolicySteps } from "./policies.ts"
import { checkSize, stepsMax } from "./route-size.ts"
import { alwaysAnswers, answersItself, namesCaller, nearestAuth, runsInbound } from "./route-statements.ts"
import type { Item } from "./scope.ts"
import { declaredBy, type Lowered, type LowerStep, type StepContext } from "./step.ts"
import { lowerCheck, lowerConcurrency, lowerCors, lowerIp } from "./steps/access.ts"
import { authOf, lowerAuth } from "./steps/auth.ts"
import { lowerCacheResponse } from "./steps/cache.ts"
import { lowerDeprecation } from "./steps/deprecation.ts"
import { isAnonymous } from "./steps/limit.ts"
import { lowerCounted } from "./steps/quota.ts"
import { lowerRequire } from "./steps/require.ts"
import { stepLowerings } from "./steps/table.ts"
import { Validation } from "./validation.ts"

/** A route of the plan with its steps as they are used, for `origins`. */
export interface LoweredRoute {
  readonly route: Route
  readonly inbound: readonly Lowered[]
  readonly backend: readonly Lowered[]
  readonly outbound: readonly Lowered[]
  readonly onError: readonly Lowered[]
}

/** What is missing on a route, to be told once for an API that lacks it everywhere. */
export interface Missing {
  readonly auth: boolean
  readonly backend: boolean
}

interface SectionPlaces {
  readonly inbound: Place
  outbound: Place
}

type Shared = Omit<StepContext, "place" | "places" | "block" | "behind" | "backends">

/**
 * Puts the statements that hold for a route in the order they run (design: the runtime knows no phases): cors, deprecation, addresses, headers,
 * limits by address alone, auth, headers compared with the caller, other limits, concurrency, require, validation of the request, inbound; then the backend; then outbound, validation of the response. Inside a phase outer scopes come first, and statements of
 * one block as they are written.
 */
export class RouteLowering {
  readonly #shared: Shared
  readonly #places: Places
  readonly #backends: Backends
  readonly #timeoutMs: number | null
  readonly #policies: Policies
  readonly #validation: Validation
  readonly #describedAuth: DescribedAuth
  readonly #memo = new Memo()
  readonly #contexts = new WeakMap<Place, StepContext>()

  constructor(
    shared: Shared,
    places: Places,
    backends: Backends,
    schemas: PlanSchemas,
    policies: Policies,
    timeoutMs: number | null,
  ) {
    this.#policies = policies
    this.#shared = shared
    this.#places = places
    this.#backends = backends
    this.#timeoutMs = timeoutMs
    this.#validation = new Validation(schemas, shared.steps, shared.report)
    this.#describedAuth = new DescribedAuth(shared.report)
  }

  /** To be called when all routes were lowered: what documents demand and nobody said how to meet. */
  report(): void {
    this.#describedAuth.report()
  }

  lower(source: RouteSource, items: readonly Item[]): { lowered: LoweredRoute; missing: Missing } {
    const ownAuth = this.#describedAuth.of(source, nearestAuth(items))
    const authItems = ownAuth ?? []
    const auth = this.#auth(authItems)
    const parameters = source.path.flatMap(({ kind, text }) => (kind === "static" ? [] : [text]))
    const inboundPlace = this.#places.make(source, "inbound", parameters, auth)
    const outboundPlace = this.#places.make(source, "outbound", parameters, auth)
    const places = { inbound: inboundPlace, outbound: outboundPlace }
    const chain = [source.scopes.operation, source.scopes.version, source.scopes.api]
    const mock = lowerMock(source, chain, this.#shared.steps, this.#shared.report)
    const answers = source.documentation || mock !== undefined || answersItself(items)
    const forward = answers ? undefined : this.#backend(chain, inboundPlace)
    const documents = this.#policies.of(items, { api: source.api.name, place: inboundPlace, forward })
    const cors = [...this.#cors(source, items, inboundPlace), ...documents.cors]
    const cache = this.#cache(items, inboundPlace)
    const steps = [...cors, ...this.#inbound(source, items, authItems, places, documents)]
    if (cache !== undefined && !answers) steps.push(cache.lookup)
    places.outbound = this.#places.behind(outboundPlace, declaredBy(steps))
    // In front of the outbound statements the same step takes away what the backend says about sharing.
    const outbound = [
      ...cors,
      ...(cache === undefined ? [] : [cache.store]),
      ...["grant", "revoke", "filter"].flatMap((word) =>
        this.#each(items, [word], outboundPlace, stepLowerings[word] as LowerStep),
      ),
      ...documents.outbound,
      ...this.#section(items, "outbound", places.outbound),
      ...this.#validation.steps(source, chain, "response"),
    ]
    if (mock !== undefined && mock !== "broken") steps.push(mock)
    const backend = answers ? [] : documents.backend
    const errorPlace = this.#places.make(source, "on-error", parameters, auth)
    const onError = [
      ...documents.onError,
      ...this.#section(
        items,
        "on-error",
        this.#places.behind(errorPlace, declaredBy([...steps, ...outbound])),
      ),
    ]
    checkSize([steps, backend, outbound, onError], source, this.#shared.report)
    this.#policies.prove(source, auth, [...steps, ...backend], onError)
    const sections = { inbound: steps, backend, outbound, onError }
    const route = planRoute(source, chain, sections, this.#timeoutMs)
    return {
      lowered: { route, ...sections },
      missing: {
        auth:
          ownAuth !== undefined && authItems.length === 0 && !chain.some((scope) => scope?.block?.damaged),
        backend:
          !answers &&
          forward === undefined &&
          !documents.finds &&
          !chain.some((scope) => scope?.block?.damaged || mentions(scope?.block, "backend")),
      },
    }
  }

  #inbound(
    source: RouteSource,
    items: readonly Item[],
    authItems: readonly Item[],
    places: SectionPlaces,
    documents: PolicySteps,
  ): Lowered[] {
    const place = places.inbound
    const limits = items.filter(({ bound }) => bound.row.keyword === "limit")
    const early = limits.filter(({ bound, product }) => product === undefined && isAnonymous(bound))
    const late = limits.filter((item) => !early.includes(item))
    const authSteps = this.#memo.once(
      `auth ${source.api.name} ${this.#memo.keyOf(authItems)} ${place.key}`,
      () =>
        lowerAuth(
          authItems.map((item) => item.bound),
          source.api.name,
          this.#context(place),
        ),
    )
    const checks = items.filter(({ bound }) => bound.row.keyword === "check")
    const knowing = checks.filter(({ bound }) => namesCaller(bound))
    return [
      ...this.#deprecation(source),
      ...this.#each(items, ["allow", "deny"], place, lowerIp),
      ...this.#each(
        checks.filter((item) => !knowing.includes(item)),
        ["check"],
        place,
        lowerCheck,
      ),
      ...this.#limits(early, places),
      ...authSteps,
      ...documents.auth,
      ...this.#each(knowing, ["check"], place, lowerCheck),
      ...this.#limits(late, places),
      ...this.#limits(
        items.filter(({ bound }) => bound.row.keyword === "quota"),
        places,
      ),
      ...this.#concurrency(items, place),
      ...items.flatMap(({ bound }) => (bound.row.keyword === "require" ? this.#require(bound, place) : [])),
      ...this.#validation.steps(
        source,
        [source.scopes.operation, source.scopes.version, source.scopes.api],
        "request",
      ),
      ...documents.inbound,
      ...this.#section(items, "inbound", this.#places.behind(place, declaredBy(authSteps))),
    ]
  }

  /** The nearest `cors`. An operation for OPTIONS answers preflights itself unless it says `cors` too. */
  #cors(source: RouteSource, items: readonly Item[], place: Place): readonly Lowered[] {
    const found = items.filter(({ bound }) => bound.row.keyword === "cors").at(-1)
    if (found === undefined || (source.method === "OPTIONS" && found.depth < 4)) return []
    return this.#each([found], ["cors"], place, lowerCors)
  }

  #each(items: readonly Item[], keywords: readonly string[], place: Place, lower: LowerStep): Lowered[] {
    return items.flatMap(({ bound }) => {
      if (!keywords.includes(bound.row.keyword) || bound.broken) return []
      return this.#memo.once(`${bound.row.keyword} ${this.#memo.idOf(bound)} ${place.key}`, () => {
        const lowered = lower(bound, this.#context(place))
        return lowered === undefined ? [] : [lowered]
      })
    })
  }

  #concurrency(items: readonly Item[], place: Place): Lowered[] {
    return items.flatMap(({ bound, scope }) => {
      if (bound.row.keyword !== "concurrency" || bound.broken) return []
      const lowered = this.#memo.once(`concurrency ${scope} ${this.#memo.idOf(bound)} ${place.key}`, () =>
        lowerConcurrency(bound, scope, this.#context(place)),
      )
      return lowered === undefined ? [] : [lowered]
    })
  }

  /** The innermost `cache response`. */
  #cache(items: readonly Item[], place: Place): ReturnType<typeof lowerCacheResponse> {
    const nearest = items.findLast(({ bound }) => bound.row.keyword === "cache" && !bound.broken)
    if (nearest === undefined) return undefined
    return this.#memo.once(`cache ${this.#memo.keyOf([nearest])} ${place.key}`, () =>
      lowerCacheResponse(nearest.bound, this.#context(place)),
    )
  }

  #auth(items: readonly Item[]): Auth {
    const { program, report } = this.#shared
    return this.#memo.once(`auth ${this.#memo.keyOf(items)}`, () =>
      authOf(
        items.map((item) => item.bound),
        program,
        report,
      ),
    )
  }

  #limits(items: readonly Item[], { inbound: place, outbound: late }: SectionPlaces): Lowered[] {
    const counters = new Map<string, Item>()
    return items.flatMap((item) => {
      const lowered = this.#memo.once(`limit ${item.scope} ${this.#memo.keyOf([item])} ${place.key}`, () =>
        item.product === undefined
          ? lowerCounted(item, this.#context(place), late)
          : this.#productLimit(item, item.product, place, late),
      )
      if (lowered === undefined) return []
      this.#reportSame(item, counters)
      return [lowered]
    })
  }

  /** A limit of a product counts only callers whose subscription is to the product. */
  #productLimit(item: Item, product: string, place: Place, late: Place): Lowered | undefined {
    const ways = place.auth.ways.filter((way) => way.kind === "subscription")
    if (ways.length === 0) return undefined
    const route = { key: place.route, span: place.routeSpan }
    const inside = this.#places.make(route, "inbound", place.pathParameters, { ways, span: place.auth.span })
    const limit = lowerCounted(item, this.#context(inside), late)
    if (limit === undefined) return undefined
    const test = `subscription.product == ${JSON.stringify(product)}`
    const text = ways.length === place.auth.ways.length ? test : `has(subscription.product) && ${test}`
    return this.#shared.steps.add(
      { kind: "when", test: { lang: "cel", text, type: "bool" }, matched: [limit.id], otherwise: [] },
      headSpan(item.bound.statement),
      { matched: [limit], otherwise: [] },
    )
  }

  #reportSame(item: Item, counters: Map<string, Item>): void {
    const { args, statement } = item.bound
    const key = JSON.stringify([
      item.scope,
      args.values("key"),
      args.value("period"),
      args.value("bytes") !== undefined,
    ])
    const earlier = counters.get(key)
    if (earlier === undefined) counters.set(key, item)
    else if (earlier.bound !== item.bound) {
      this.#shared.report.add(
        "SP3010",
        headSpan(statement),
        "another limit of this block counts by the same key for the same time",
        {
          related: [{ span: headSpan(earlier.bound.statement), message: "the other one" }],
        },
      )
    }
  }

  #require(bound: Bound, place: Place): Lowered[] {
    const lowered = this.#memo.once(`require ${this.#memo.keyOf([{ bound }])} ${place.key}`, () =>
      lowerRequire(bound, this.#context(place)),
    )
    return lowered === undefined ? [] : [lowered]
  }

  #section(items: readonly Item[], section: Place["section"], from: Place): Lowered[] {
    const steps: Lowered[] = []
    let answered = false
    for (const { bound } of items) {
      const { keyword } = bound.row
      if (keyword !== section && !(section === "inbound" && runsInbound(bound))) continue
      if (answered) this.#reportUnreachable(keyword === "respond" ? bound : bound.block?.statements[0])
      answered ||= alwaysAnswers(bound)
      const place = this.#places.behind(from, declaredBy(steps))
      if (keyword === section) steps.push(...this.#block(bound.block, place))
      else steps.push(...this.#statement(bound, place))
    }
    return steps
  }

  #block(block: BoundBlock | undefined, place: Place): readonly Lowered[] {
    if (block === undefined) return []
    return this.#memo.once(`block ${this.#memo.idOf(block)} ${place.key}`, () => {
      const steps: Lowered[] = []
      for (const [index, bound] of block.statements.entries()) {
        const before = block.statements[index - 1]
        if (before !== undefined && alwaysAnswers(before)) this.#reportUnreachable(bound)
        steps.push(...this.#statement(bound, this.#places.behind(place, declaredBy(steps))))
      }
      const tooMany = block.statements[stepsMax]
      if (tooMany !== undefined)
        this.#shared.report.add(
          "SP3016",
          headSpan(tooMany.statement),
          `the block has ${block.statements.length} statements, ${stepsMax} are possible`,
        )
      return steps
    })
  }

  #statement(bound: Bound, place: Place): readonly Lowered[] {
    if (bound.broken) return []
    return this.#memo.once(`statement ${this.#memo.idOf(bound)} ${place.key}`, () => {
      const lowered = stepLowerings[bound.row.keyword]?.(bound, this.#context(place))
      return lowered === undefined ? [] : [lowered]
    })
  }

  #reportUnreachable(bound: Bound | undefined): void {
    if (bound !== undefined)
      this.#shared.report.add("SP3011", headSpan(bound.statement), "a `respond` before it always answers")
  }

  #deprecation(source: RouteSource): Lowered[] {
    if (source.version === undefined) return []
    return this.#memo.once(`deprecation ${this.#memo.idOf(source.version)}`, () => {
      const lowered = lowerDeprecation(source, this.#shared)
      return lowered === undefined ? [] : [lowered]
    })
  }

  #backend(chain: readonly (Scope | undefined)[], place: Place): Lowered | "broken" | undefined {
    for (const scope of chain) {
      if (!mentions(scope?.block, "backend")) continue
      const statement = statementOf(scope?.block, "backend")
      const name = statement === undefined ? undefined : this.#backends.use(statement)
      if (statement === undefined || name === undefined) return "broken"
      const key = this.#backends.hashKey(name)
      const hashKey =
        key === undefined
          ? undefined
          : this.#memo.once(`hash ${name} ${place.key}`, () => this.#shared.texts.lower(key, place))
      if (key !== undefined && hashKey === undefined) return "broken"
      const step = { kind: "forward" as const, backend: name, ...(hashKey === undefined ? {} : { hashKey }) }
      return this.#shared.steps.add(step, headSpan(statement.statement))
    }
    return undefined
  }

  #context(place: Place): StepContext {
    let context = this.#contexts.get(place)
    if (context === undefined) {
      context = {
        ...this.#shared,
        place,
        places: this.#places,
        backends: this.#backends,
        block: (block, inner) => this.#block(block, inner),
        behind: (steps) => this.#places.behind(place, declaredBy(steps)),
      }
      this.#contexts.set(place, context)
    }
    return context
  }
}
