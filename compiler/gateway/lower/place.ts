import { declareEnvironment, type Environment } from "../../../runtime/expression/environment.ts"
import { type RequestPlace, requestContext } from "../../../runtime/expression/request-context.ts"
import type { CelType } from "../../../runtime/expression/types.ts"
import type { ContentRule } from "../../../runtime/plan/content-rules.ts"
import type { Span } from "../../core/source.ts"
import type { SchemaOverrides } from "../../openapi/schema-overrides.ts"
import type { DescribedOperation } from "../described.ts"

/** Claims of tokens with their types, or "any". */
export type ClaimTypes = Readonly<Record<string, CelType>> | "any"

/** One way to authenticate, and what it provides about the caller. */
export interface AuthWay {
  readonly kind: "none" | "jwt" | "subscription" | "policy"
  /** The source of the claims in `jwt` if they do not come from an issuer's token. */
  readonly by?: "introspection" | "oidc" | "basic" | "certificate" | "hmac"
  /** The claims of `jwt`. */
  readonly claims?: ClaimTypes
  readonly issuer?: string
}

/** What the `auth` of a route provides. `ways` is empty if `auth` is missing or broken; then draw no conclusions from it. */
export interface Auth {
  readonly ways: readonly AuthWay[]
  /** The place of the first `auth` statement. */
  readonly span: Span | undefined
}

/** What the OpenAPI document of the operation says about bodies. Equal descriptions have equal keys. */
export interface DescribedBodies {
  readonly key: string
  contents(message: "request" | "response", overrides: SchemaOverrides): ContentRule[]
}

/** The place where a statement runs. It defines what expressions can name. Places with equal `key` are equal. */
export interface StatementPlace {
  readonly key: string
  readonly section: "inbound" | "outbound" | "on-error"
  /** The variables that earlier statements set in `var`. */
  readonly variables: Readonly<Record<string, CelType>>
  readonly auth: Auth
  readonly pathParameters: readonly string[]
  /** What expressions can name. Places with equal variables share it. */
  readonly context: RequestPlace
  /** Created when the first expression needs it: most places of a large document have no expression. */
  readonly environment: () => Environment
  /** An enclosing condition tests with `has()` how the caller authenticated. */
  readonly asked: boolean
  /** Set only in places where a statement may use it. */
  readonly described?: DescribedBodies | undefined
  /** The route, for findings: `GET /v1/orders/{id}`. */
  readonly route: string
  readonly routeSpan: Span
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Names of the values and of the secrets that expressions can use. */
type NamedTexts = Pick<RequestPlace, "values" | "secrets">

/** Creates places. Places that can name the same variables share one environment. */
export class Places {
  readonly #named: NamedTexts
  readonly #bodiesOf: ((route: DescribedOperation) => DescribedBodies) | undefined
  readonly #environments = new Map<string, Pick<StatementPlace, "key" | "context" | "environment">>()
  /** By list of ways, because all routes of an API share it. */
  readonly #waysText = new WeakMap<Auth["ways"], string>()

  /** `bodiesOf`: set if a statement may use what documents say about bodies. Each described operation is then a place of its own. */
  constructor(named: NamedTexts, bodiesOf?: (route: DescribedOperation) => DescribedBodies) {
    this.#named = named
    this.#bodiesOf = bodiesOf
  }

  /**
   * A place with its variables. Places with equal variables share one environment, and `key` identifies it: declaring an environment is
   * slow.
   */
  make(
    route: { key: string; span: Span; described?: DescribedOperation | undefined },
    section: StatementPlace["section"],
    parameters: readonly string[],
    auth: Auth,
    item = false,
    variables: StatementPlace["variables"] = {},
  ): StatementPlace {
    const pathParameters = parameters.length < 2 ? parameters : [...parameters].sort()
    const names = `${section} ${item} ${JSON.stringify([pathParameters, variables])} ${this.#textOf(auth.ways)}`
    let known = this.#environments.get(names)
    if (known === undefined) {
      const context = { ...contextOf(section, pathParameters, auth, this.#named), item, variables }
      const environment = once(() => declareEnvironment(requestContext(context)))
      known = { key: String(this.#environments.size), context, environment }
      this.#environments.set(names, known)
    }
    const { key, context, environment } = known
    // Spelled out: the spread of an object takes several times as long, and each route makes a few places.
    const place: StatementPlace = {
      key,
      section,
      variables,
      auth,
      pathParameters,
      context,
      environment,
      asked: false,
      described: undefined,
      route: route.key,
      routeSpan: route.span,
    }
    return route.described === undefined ? place : describedPlaceOf(place, this.#bodiesOf?.(route.described))
  }

  #textOf(ways: Auth["ways"]): string {
    const text = this.#waysText.get(ways) ?? JSON.stringify(ways)
    this.#waysText.set(ways, text)
    return text
  }

  /** The place after statements that set variables. */
  behind(place: StatementPlace, declared: StatementPlace["variables"]): StatementPlace {
    if (Object.keys(declared).length === 0) return place
    const variables = Object.fromEntries(
      Object.entries({ ...place.variables, ...declared }).sort(([a], [b]) => (a < b ? -1 : 1)),
    )
    const route = { key: place.route, span: place.routeSpan }
    const { section, pathParameters, auth } = place
    const made = this.make(route, section, pathParameters, auth, false, variables)
    return describedPlaceOf(place.asked ? askedPlace(made) : made, place.described)
  }
}

/** The place in an operation that a document describes. */
function describedPlaceOf(place: StatementPlace, described: DescribedBodies | undefined): StatementPlace {
  return described === undefined ? place : { ...place, described, key: `${place.key} ${described.key}` }
}

/** Kinds of `auth` by the variable they provide. */
export const providers: Readonly<Record<string, AuthWay["kind"]>> = {
  jwt: "jwt",
  subscription: "subscription",
  product: "subscription",
}

/** The word after `auth` for this way. */
export function wordOf({ kind, by }: AuthWay): string {
  return by ?? kind
}

/**
 * Whether tokens with these claims may have a claim. A dot accesses a field of an object: only the part before the first dot must be
 * declared.
 */
export function mayHold(claims: ClaimTypes, claim: string): boolean {
  const [first = claim] = claim.split(".", 1)
  return claims === "any" || Object.hasOwn(claims, claim) || Object.hasOwn(claims, first)
}

/**
 * Whether a caller who authenticated this way has the variable. A policy document may provide any variable; without a check the variable
 * has no value.
 */
export function brings({ kind }: AuthWay, variable: string): boolean {
  return kind === "policy" ? Object.hasOwn(providers, variable) : providers[variable] === kind
}

/** The place inside of a condition. A variable that may be missing is no mistake there if the condition tests for it. */
export function placeBehind(condition: string, place: StatementPlace): StatementPlace {
  return place.asked || !asksForCaller(condition) ? place : askedPlace(place)
}

/** The same place, where a variable that may be missing is no mistake. */
export function askedPlace(place: StatementPlace): StatementPlace {
  return { ...place, asked: true, key: `${place.key}?` }
}

/** Whether an expression tests with `has()` how the caller authenticated. */
export function asksForCaller(source: string): boolean {
  return /\bhas\(\s*(?:jwt|subscription|product)\b/.test(source)
}

/** What expressions can read in a place. */
function contextOf(
  section: StatementPlace["section"],
  pathParameters: readonly string[],
  { ways }: Auth,
  named: NamedTexts,
): RequestPlace {
  // Without a valid `auth`, assume everything it could provide, so that the finding about `auth` stays the only one.
  const open = ways.length === 0
  return {
    section,
    pathParameters,
    claims: open ? "any" : claimsOf(ways),
    subscription: open || ways.some(({ kind }) => kind === "subscription" || kind === "policy"),
    ...named,
  }
}

/** The claims that tokens of any way can have. A claim with two types is `dyn`. */
function claimsOf(ways: readonly AuthWay[]): ClaimTypes | undefined {
  let known: Record<string, CelType> | undefined
  for (const { kind, claims } of ways) {
    // The compiler does not know which claims a policy document checks. A missing claim has no value at run time.
    if (kind === "policy") return "any"
    if (kind !== "jwt") continue
    if (claims === undefined || claims === "any") return "any"
    known ??= {}
    for (const [name, type] of Object.entries(claims)) {
      const before = Object.hasOwn(known, name) ? known[name] : type
      known[name] = before === type ? type : "dyn"
    }
  }
  return known
}
