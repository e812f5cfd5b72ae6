import type { Route } from "../../../runtime/plan/resources.ts"
import { isAnswer } from "../../../runtime/plan/steps.ts"
import type { Report } from "../../core/diagnostic.ts"
import { mockAnswer } from "../../openapi/mock-answer.ts"
import { type BoundBlock, type BoundStatement, headSpan, mentions, statementOf } from "../bind/bound.ts"
import { mayHide } from "../bind/hidden.ts"
import type { RouteScope, RouteSource } from "../routes.ts"
import { stepLowerings } from "../schema/steps.ts"
import type { StatementDefinition } from "../step-text.ts"
import { check } from "../steps/check-header.ts"
import { compressStatement } from "../steps/compress.ts"
import { corsForPages, corsStatement } from "../steps/cors.ts"
import { lowerDeprecation } from "../steps/deprecation.ts"
import { backendStatement } from "../steps/forward.ts"
import { lowerIp } from "../steps/ip-filter.ts"
import { lowerConcurrency } from "../steps/limit-concurrency.ts"
import { isAnonymous } from "../steps/rate-limit.ts"
import { requireStatement } from "../steps/require.ts"
import { type ApplyingStatement, applyingTo } from "./applying.ts"
import { authOf, lowerAuth } from "./auth.ts"
import type { Backends } from "./backends.ts"
import { CacheHalves } from "./cache-halves.ts"
import { lowerCacheResponse } from "./cache-response.ts"
import { DescribedAuth } from "./described-auth.ts"
import { describedPlace } from "./described-place.ts"
import { isCounted, Limits, SameLimits } from "./limits.ts"
import { timeoutOf } from "./listeners.ts"
import { Memo } from "./memo.ts"
import { checkMirrors } from "./mirrored.ts"
import type { Auth, Places, StatementPlace } from "./place.ts"
import { planRoute } from "./plan-route.ts"
import type { Policies, PolicySteps } from "./policies.ts"
import { checkScripts } from "./readable-by-any-page.ts"
import { alwaysAnswers, answersItself, namesCaller, nearestAuth, runsInbound } from "./route-statements.ts"
import type { Item } from "./scope.ts"
import { declaredBy, type Lowered, type LowerStep, type PlanSteps, type StepContext } from "./step.ts"
import { PageSharing } from "./try-it.ts"
import type { Validation } from "./validation.ts"

/** Maximum number of steps in a section of a route, and in a block. */
const stepsMax = 1000

/** A route of the plan, with the uses of its steps for `origins`. */
export interface LoweredRoute {
  readonly route: Route
  readonly inbound: readonly Lowered[]
  readonly backend: readonly Lowered[]
  readonly outbound: readonly Lowered[]
  readonly onError: readonly Lowered[]
  /** For editors: the statements that have an effect on the route. Empty in a compilation that nobody edits. */
  readonly applying: readonly ApplyingStatement[]
}

/** Something missing on a route, or that seems to be (`excusedParts`). If all routes of an API lack it, it is reported once. */
export interface Missing {
  readonly auth: boolean
  readonly backend: boolean
}

/** Statements with which a route has `auth`. */
const authenticating = ["auth", "use"]

/** Statements with which a route has a backend, or may need none. */
const backing = ["backend", "respond", "mock", "policy", "use", "inbound"]

/** What a route lacks, without what a line with a mistake in its blocks may be. */
export function excusedParts({ auth, backend }: Missing, { scopes }: RouteSource): Missing {
  const chain = [scopes.operation, scopes.version, scopes.api]
  const mayHideAny = (keywords: readonly string[]): boolean =>
    chain.some((scope) => keywords.some((each) => mayHide(scope?.block, each)))
  return { auth: auth && !mayHideAny(authenticating), backend: backend && !mayHideAny(backing) }
}

type Shared = Omit<StepContext, "place" | "places" | "scope" | "block" | "behind" | "backends">

/**
 * Orders the statements of a route as they run; the runtime knows no phases. The order: cors, compress, deprecation, addresses, headers, limits by
 * address alone, auth, headers compared with the caller, other limits, concurrency, require, validation of the request, inbound; then the
 * backend; then outbound, validation of the response. Within a phase, outer scopes come first, and statements of one block keep their
 * textual order.
 */
export class RouteLowering {
  /** What is kept of a route adds to these. */
  readonly backends: Backends
  readonly validation: Validation
  readonly describedAuth: DescribedAuth
  readonly #shared: Shared
  readonly #places: Places
  readonly #timeoutMs: number | null
  readonly #policies: Policies
  readonly #memo: Memo
  readonly #limits: Limits
  readonly #cacheHalves = new CacheHalves()
  readonly #pages: PageSharing
  readonly #edited: boolean
  readonly #contexts = new WeakMap<StatementPlace, Map<string, StepContext>>()

  /** One object lowers all routes; it keeps the steps of outer blocks that several routes share. */
  constructor(
    shared: Shared,
    places: Places,
    backends: Backends,
    validation: Validation,
    policies: Policies,
  ) {
    this.#memo = new Memo(shared.program.recorder)
    this.#edited = shared.program.recorder !== undefined
    this.#policies = policies
    this.#shared = shared
    this.#pages = new PageSharing(shared.program, shared.values)
    this.#places = places
    this.backends = backends
    this.#timeoutMs = timeoutOf(shared.program.gateway)
    this.validation = validation
    this.describedAuth = new DescribedAuth(shared.report, shared.program.recorder)
    this.#limits = new Limits(places, this.#memo, (place) => this.#context(place))
  }

  /** The steps for requests that match no route; `items`: those of the gateway. */
  unmatched(items: readonly Item[]): readonly Lowered[] {
    return this.#policies.unmatched(items)
  }

  /** Call it after all routes are lowered: reports security that documents demand and gateway.conf does not map. */
  report(): void {
    this.describedAuth.report()
    this.validation.report()
    this.#cacheHalves.report(this.#shared.report)
  }

  /** Call it for each route, lowered now or kept. */
  see(items: readonly Item[]): void {
    this.#cacheHalves.see(items)
  }

  /** Lowers a route: the order of these calls is the order of steps that the README of this room describes. */
  lower(source: RouteSource, items: readonly Item[]): { lowered: LoweredRoute; missing: Missing } {
    const ownAuth = this.describedAuth.of(source, nearestAuth(items))
    const authItems = ownAuth ?? []
    const auth = this.#auth(authItems)
    const parameters = source.path.flatMap(({ names }) => names)
    const inboundPlace = this.#places.make(source, "inbound", parameters, auth)
    const outboundPlace = this.#places.make(source, "outbound", parameters, auth)
    const chain = [source.scopes.operation, source.scopes.version, source.scopes.api]
    const mock = lowerMock(source, chain, this.#shared.steps, this.#shared.report)
    const answers = source.documentation || mock !== undefined || answersItself(items)
    const forward = answers ? undefined : this.#backend(chain, inboundPlace)
    const documents = this.#documents(source, items, inboundPlace, forward)
    if (source.documentation) this.#checkHidden(source, items, [...documents.auth, ...documents.inbound])
    const cors = [...this.#cors(source, items, inboundPlace), ...documents.cors]
    const cache = this.#cache(items, inboundPlace, outboundPlace)
    const steps = [
      ...(cors.length > 0 ? cors : this.#corsForPages(source)),
      ...this.#nearest(items, compressStatement, inboundPlace),
      ...this.#inbound(source, items, authItems, inboundPlace, outboundPlace, documents),
    ]
    if (cache !== undefined && !answers) steps.push(cache.lookup)
    const judged = this.validation.leaves(chain, "request")
    const answered = this.#places.behind(outboundPlace, { ...declaredBy(steps), ...judged })
    // Before the outbound statements, the same step removes the CORS headers of the backend.
    const outbound = [
      ...cors,
      ...(cache === undefined ? [] : [cache.store]),
      ...["grant", "revoke", "filter"].flatMap((word) =>
        this.#each(items, [word], answered, stepLowerings[word] as LowerStep),
      ),
      ...documents.outbound,
      ...this.#section(items, "outbound", answered),
      ...this.validation.steps(source, chain, "response"),
    ]
    if (mock !== undefined && mock !== "broken") steps.push(mock)
    const backend = answers ? [] : documents.backend
    const errorPlace = this.#places.make(source, "on-error", parameters, auth)
    const left = {
      ...declaredBy([...steps, ...outbound]),
      ...this.validation.leaves(chain, "request", "response"),
    }
    const broken = this.#places.behind(errorPlace, left)
    const onError = [...documents.onError, ...this.#section(items, "on-error", broken)]
    const sections = { inbound: steps, backend, outbound, onError }
    const applying = this.#edited ? applyingTo(source, items, authItems, answers) : []
    this.#checkWhole(sections, source, items)
    this.#policies.prove(source, auth, [...steps, ...backend], onError)
    return {
      lowered: { route: planRoute(source, chain, sections, this.#timeoutMs), ...sections, applying },
      missing: {
        auth: ownAuth !== undefined && authItems.length === 0,
        backend:
          !answers &&
          forward === undefined &&
          !documents.finds &&
          !chain.some((scope) => mentions(scope?.block, "backend")),
      },
    }
  }

  #checkWhole(
    sections: Readonly<Record<string, readonly Lowered[]>>,
    source: RouteSource,
    items: readonly Item[],
  ): void {
    const { operation, version, api } = source.scopes
    const once = (pair: readonly BoundStatement[], tell: () => void) =>
      this.#memo.once(`seen ${this.#memo.keyOf(pair.map((bound) => ({ bound })))}`, tell)
    checkMirrors(items, [operation, version, api], once, this.#shared.report)
    const lists = Object.values(sections)
    checkSize(lists, source, this.#shared.report)
    checkScripts(lists, source, this.#shared.steps, this.#shared.report)
  }

  #documents(
    source: RouteSource,
    items: readonly Item[],
    place: StatementPlace,
    forward: Lowered | "broken" | undefined,
  ): PolicySteps {
    const described = describedPlace(source.described, this.validation)
    return this.#policies.of(items, { api: source.api.name, place, forward, described })
  }

  /** The steps before the backend. Limits by address alone come before `auth`, so that refused logins are counted too. */
  #inbound(
    source: RouteSource,
    items: readonly Item[],
    authItems: readonly Item[],
    place: StatementPlace,
    later: StatementPlace,
    documents: PolicySteps,
  ): Lowered[] {
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
    const known = this.#places.behind(place, declaredBy(authSteps))
    const checks = items.filter(({ bound }) => bound.row.keyword === "check")
    const knowing = checks.filter(({ bound }) => namesCaller(bound))
    const chain = [source.scopes.operation, source.scopes.version, source.scopes.api]
    const steps = [
      ...this.#deprecation(source),
      ...this.#each(items, ["allow", "deny"], place, lowerIp),
      ...this.#each(
        checks.filter((item) => !knowing.includes(item)),
        ["check"],
        place,
        check.lower,
      ),
      ...this.#limits.lower(early, place, later),
      ...authSteps,
      ...documents.auth,
      ...this.#each(knowing, ["check"], known, check.lower),
      ...this.#limits.lower(late, known, later),
      ...this.#limits.lower(
        items.filter(({ bound }) => bound.row.keyword === "quota"),
        known,
        later,
      ),
      ...this.#concurrency(items, known),
      ...items.flatMap(({ bound }) => (bound.row.keyword === "require" ? this.#require(bound, known) : [])),
      ...this.validation.steps(source, chain, "request"),
      ...documents.inbound,
    ]
    const behind = { ...declaredBy(steps), ...this.validation.leaves(chain, "request") }
    return [...steps, ...this.#section(items, "inbound", this.#places.behind(place, behind))]
  }

  /** Reports outer statements or documents that always respond: they would respond to requests for the API's document, too. */
  #checkHidden({ span }: RouteSource, items: readonly Item[], documents: readonly Lowered[]): void {
    const { steps, report } = this.#shared
    if (!answersItself(items) && !documents.some(({ id }) => isAnswer(steps.get(id)))) return
    report.add("SP8017", span, "an outer block always responds, before the document runs", {
      help: 'Write `docs "…" { without inbound }`, or let the outer block answer under a condition.',
    })
  }

  /** For pages of the portal and the console that call the route. It is not in outbound: other sites get the CORS headers of the backend, as before. */
  #corsForPages(source: RouteSource): readonly Lowered[] {
    const [page, ...more] = this.#pages.of(source)
    if (page === undefined) return []
    const step = corsForPages([page, ...more].map(({ origin }) => origin))
    return [this.#shared.steps.add(step, page.span)]
  }

  /** The nearest `cors`. An operation for OPTIONS responds to preflights itself, unless it has its own `cors`. */
  #cors(source: RouteSource, items: readonly Item[], place: StatementPlace): readonly Lowered[] {
    const own = source.method === "OPTIONS" ? items.filter(({ depth }) => depth >= 4) : items
    return this.#nearest(own, corsStatement, place)
  }

  /** The statement of the innermost scope that has it. */
  #nearest(items: readonly Item[], { row, lower }: StatementDefinition, place: StatementPlace): Lowered[] {
    const found = items.findLast(({ bound }) => bound.row.keyword === row.keyword)
    return found === undefined ? [] : this.#each([found], [row.keyword], place, lower)
  }

  /** Statements with one of the keywords, from the outermost scope to the innermost. */
  #each(
    items: readonly Item[],
    keywords: readonly string[],
    place: StatementPlace,
    lower: LowerStep,
  ): Lowered[] {
    return items.flatMap(({ bound }) => {
      if (!keywords.includes(bound.row.keyword) || bound.broken) return []
      return this.#memo.once(`${bound.row.keyword} ${this.#memo.idOf(bound)} ${place.key}`, () => {
        const lowered = lower(bound, this.#context(place))
        return lowered === undefined ? [] : [lowered]
      })
    })
  }

  /** The counter's name contains the scope, because the same statement in two APIs counts separately. */
  #concurrency(items: readonly Item[], place: StatementPlace): Lowered[] {
    return items.flatMap(({ bound, scope }) => {
      if (bound.row.keyword !== "concurrency" || bound.broken) return []
      const lowered = this.#memo.once(`concurrency ${scope} ${this.#memo.idOf(bound)} ${place.key}`, () =>
        lowerConcurrency(bound, scope, this.#context(place)),
      )
      return lowered === undefined ? [] : [lowered]
    })
  }

  /** The innermost `cache response`. */
  #cache(
    items: readonly Item[],
    place: StatementPlace,
    later: StatementPlace,
  ): ReturnType<typeof lowerCacheResponse> {
    const nearest = items.findLast(({ bound }) => bound.row.keyword === "cache" && !bound.broken)
    if (nearest === undefined) return undefined
    return this.#memo.once(`cache ${this.#memo.keyOf([nearest])} ${place.key}`, () =>
      lowerCacheResponse(nearest.bound, this.#context(place), later),
    )
  }

  /** What the ways of `auth` provide to expressions. */
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

  #require(bound: BoundStatement, place: StatementPlace): Lowered[] {
    const lowered = this.#memo.once(`require ${this.#memo.keyOf([{ bound }])} ${place.key}`, () =>
      requireStatement.lower(bound, this.#context(place)),
    )
    return lowered === undefined ? [] : [lowered]
  }

  /** The blocks of one section. What follows a response that is always given is reported, because it never runs. */
  #section(items: readonly Item[], section: StatementPlace["section"], from: StatementPlace): Lowered[] {
    const steps: Lowered[] = []
    let answered = false
    for (const { bound, scope } of items) {
      const { keyword } = bound.row
      if (keyword !== section && !(section === "inbound" && runsInbound(bound))) continue
      if (answered) this.#reportUnreachable(keyword === "respond" ? bound : bound.block?.statements[0])
      answered ||= alwaysAnswers(bound)
      const place = this.#places.behind(from, declaredBy(steps))
      if (keyword === section) steps.push(...this.#block(bound.block, place, `${scope} ${section}`))
      else steps.push(...this.#statement(bound, place, scope))
    }
    return steps
  }

  /** The statements of a block in textual order. Each sees the variables that those before it set. */
  #block(block: BoundBlock | undefined, place: StatementPlace, scope: string): readonly Lowered[] {
    if (block === undefined) return []
    return this.#memo.once(`block ${this.#memo.idOf(block)} ${place.key} ${scope}`, () => {
      const steps: Lowered[] = []
      const same = new SameLimits(this.#shared.report)
      for (const [index, bound] of block.statements.entries()) {
        const before = block.statements[index - 1]
        if (before !== undefined && alwaysAnswers(before)) this.#reportUnreachable(bound)
        if (isCounted(bound)) same.see(bound, scope)
        steps.push(...this.#statement(bound, this.#places.behind(place, declaredBy(steps)), scope))
      }
      const tooMany = block.statements[stepsMax]
      if (tooMany !== undefined)
        this.#shared.report.add(
          "SP3016",
          headSpan(tooMany.statement),
          `the block has ${block.statements.length} statements; the maximum is ${stepsMax}`,
        )
      return steps
    })
  }

  #statement(bound: BoundStatement, place: StatementPlace, scope: string): readonly Lowered[] {
    if (bound.broken) return []
    return this.#memo.once(`statement ${this.#memo.idOf(bound)} ${place.key} ${scope}`, () => {
      const lowered = stepLowerings[bound.row.keyword]?.(bound, this.#context(place, scope))
      return lowered === undefined ? [] : [lowered]
    })
  }

  #reportUnreachable(bound: BoundStatement | undefined): void {
    if (bound !== undefined)
      this.#shared.report.add(
        "SP3011",
        headSpan(bound.statement),
        "a `respond` before it always ends the section, so this statement never runs",
      )
  }

  #deprecation(source: RouteSource): Lowered[] {
    if (source.version === undefined) return []
    return this.#memo.once(`deprecation ${this.#memo.idOf(source.version)}`, () => {
      const lowered = lowerDeprecation(source, this.#shared)
      return lowered === undefined ? [] : [lowered]
    })
  }

  /** The nearest `backend`. `"broken"`: there is one, but it is not understood, so a missing backend is not reported. */
  #backend(
    chain: readonly (RouteScope | undefined)[],
    place: StatementPlace,
  ): Lowered | "broken" | undefined {
    for (const scope of chain) {
      if (!mentions(scope?.block, "backend")) continue
      const statement = statementOf(scope?.block, "backend")
      if (statement === undefined) return "broken"
      const key = `backend ${this.#memo.idOf(statement)} ${place.key}`
      return this.#memo.once(key, () => backendStatement.lower(statement, this.#context(place))) ?? "broken"
    }
    return undefined
  }

  /** The context for lowering in a place; made once for each place and scope. */
  #context(place: StatementPlace, scope = ""): StepContext {
    let contexts = this.#contexts.get(place)
    if (contexts === undefined) {
      contexts = new Map()
      this.#contexts.set(place, contexts)
    }
    let context = contexts.get(scope)
    if (context === undefined) {
      const { program, values, texts, expressions, models, declaredNames } = this.#shared
      const { report, azure, steps, bodySchemas, apimApis } = this.#shared
      // Spelled out: the spread of an object takes several times as long, and there is one for each statement of each route.
      context = {
        program,
        values,
        texts,
        expressions,
        models,
        declaredNames,
        report,
        azure,
        steps,
        bodySchemas,
        apimApis,
        place,
        scope,
        places: this.#places,
        backends: this.backends,
        block: (block, inner, within = scope) => this.#block(block, inner, within),
        behind: (steps) => this.#places.behind(place, declaredBy(steps)),
      }
      contexts.set(scope, context)
    }
    return context
  }
}

/**
 * `mock` of the nearest scope: a response generated from the document. Undefined without `mock`, `broken` if no response can be generated.
 */
function lowerMock(
  source: RouteSource,
  chain: readonly (RouteScope | undefined)[],
  steps: PlanSteps,
  report: Report,
): Lowered | "broken" | undefined {
  const statement = chain.map((scope) => statementOf(scope?.block, "mock")).find((each) => each !== undefined)
  if (statement === undefined) return undefined
  const { described } = source
  const own = statementOf(source.scopes.operation.block, "mock") === statement
  if (described === undefined) {
    // An `extra` operation of a described API uses its backend or responds itself.
    if (!own && source.inDescribed) return undefined
    // The reason why the document cannot be read is already reported.
    if (source.inDescribed === "unread") return "broken"
    report.add("SP8012", headSpan(statement.statement), "no OpenAPI document describes the response")
    return "broken"
  }
  const { args } = statement
  const media = args.value<string>("media")?.toLowerCase()
  const answer = mockAnswer(described.operation, described.document, args.value<number>("status"), media)
  if (typeof answer !== "string") return steps.add(answer, headSpan(statement.statement))
  report.add("SP8012", own ? headSpan(statement.statement) : described.operation.span, answer, {
    cause: described.operation.lostResponses,
  })
  return "broken"
}

/** Reports a section of a route that has too many steps. */
function checkSize(lists: readonly (readonly Lowered[])[], { span }: RouteSource, report: Report): void {
  const longest = Math.max(...lists.map((list) => list.length))
  if (longest > stepsMax)
    report.add("SP3016", span, `the route has ${longest} steps in a row; the maximum is ${stepsMax}`)
}
