import { declareEnvironment, type Environment } from "../../../runtime/expression/environment.ts"
import { type RequestPlace, requestContext } from "../../../runtime/expression/request-context.ts"
import type { CelType } from "../../../runtime/expression/types.ts"
import type { ContentRule } from "../../../runtime/plan/content-rules.ts"
import type { Span } from "../../core/source.ts"
import type { SchemaOverrides } from "../../openapi/schema-overrides.ts"
import type { DescribedOperation } from "../described.ts"

/** Claims of tokens with their types, or any. */
export type ClaimTypes = Readonly<Record<string, CelType>> | "any"

/** One way to get in, and what it tells about the caller. */
export interface AuthWay {
  readonly kind: "none" | "jwt" | "subscription" | "policy"
  /** What leaves claims in `jwt` besides tokens of issuers. */
  readonly by?: "introspection" | "basic"
  /** Of `jwt`. */
  readonly claims?: ClaimTypes
  readonly issuer?: string
}

/** What `auth` of a route provides. `ways` is empty where it is missing or broken; then nothing is concluded from it. */
export interface Auth {
  readonly ways: readonly AuthWay[]
  /** The first `auth` statement. */
  readonly span: Span | undefined
}

/** What the OpenAPI document of the operation says of bodies. Equal ones have equal keys. */
export interface DescribedBodies {
  readonly key: string
  contents(message: "request" | "response", overrides: SchemaOverrides): ContentRule[]
}

/** Where a statement runs: what its expressions may name. Places with equal `key` are equal. */
export interface StatementPlace {
  readonly key: string
  readonly section: "inbound" | "outbound" | "on-error"
  /** What statements before it leave in `var`. */
  readonly variables: Readonly<Record<string, CelType>>
  readonly auth: Auth
  readonly pathParameters: readonly string[]
  /** Made when the first expression asks for it: most places of a large document have none. */
  readonly environment: () => Environment
  /** A condition around it asked by `has()` how the caller came in. */
  readonly asked: boolean
  /** There only where a statement may ask for it. */
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

/** Makes places; environments are shared by all places that may name the same. */
export class Places {
  readonly #values: readonly string[]
  readonly #bodiesOf: ((route: DescribedOperation) => DescribedBodies) | undefined
  readonly #environments = new Map<string, Pick<StatementPlace, "key" | "environment">>()

  /** `bodiesOf`: there where a statement may ask what documents say of bodies; each operation they describe is a place of its own then. */
  constructor(values: readonly string[], bodiesOf?: (route: DescribedOperation) => DescribedBodies) {
    this.#values = values
    this.#bodiesOf = bodiesOf
  }

  make(
    route: { key: string; span: Span; described?: DescribedOperation | undefined },
    section: StatementPlace["section"],
    parameters: readonly string[],
    auth: Auth,
    item = false,
    variables: StatementPlace["variables"] = {},
  ): StatementPlace {
    const pathParameters = [...parameters].sort()
    const names = JSON.stringify([section, pathParameters, auth.ways, item, variables])
    let known = this.#environments.get(names)
    if (known === undefined) {
      const own = contextOf(section, pathParameters, auth, this.#values)
      const environment = once(() => declareEnvironment(requestContext({ ...own, item, variables })))
      known = { key: String(this.#environments.size), environment }
      this.#environments.set(names, known)
    }
    const place = {
      ...known,
      section,
      variables,
      auth,
      pathParameters,
      asked: false,
      route: route.key,
      routeSpan: route.span,
    }
    return route.described === undefined ? place : describedPlaceOf(place, this.#bodiesOf?.(route.described))
  }

  /** The place behind statements that leave variables. */
  behind(place: StatementPlace, declared: StatementPlace["variables"]): StatementPlace {
    if (Object.keys(declared).length === 0) return place
    const variables = Object.fromEntries(
      Object.entries({ ...place.variables, ...declared }).sort(([a], [b]) => (a < b ? -1 : 1)),
    )
    const route = { key: place.route, span: place.routeSpan }
    const { section, pathParameters, auth } = place
    const made = this.make(route, section, pathParameters, auth, false, variables)
    const known = place.asked ? { ...made, asked: true, key: `${made.key}?` } : made
    return describedPlaceOf(known, place.described)
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

/** The word behind `auth` that stands for the way. */
export function wordOf({ kind, by }: AuthWay): string {
  return by ?? kind
}

/** Whether tokens with these claims may have one. Dots walk into objects: what is before the first one must be declared. */
export function mayHold(claims: ClaimTypes, claim: string): boolean {
  const [first = claim] = claim.split(".", 1)
  return claims === "any" || Object.hasOwn(claims, claim) || Object.hasOwn(claims, first)
}

/** Whether who comes in this way has the variable. A policy document may bring any: what it did not check has no value. */
export function brings({ kind }: AuthWay, variable: string): boolean {
  return kind === "policy" ? Object.hasOwn(providers, variable) : providers[variable] === kind
}

/** The place inside of a condition: what may be missing is not a mistake there when the condition asked for it. */
export function placeBehind(condition: string, place: StatementPlace): StatementPlace {
  return place.asked || !asksForCaller(condition) ? place : { ...place, asked: true, key: `${place.key}?` }
}

/** Whether an expression asks by `has()` how the caller came in. */
export function asksForCaller(source: string): boolean {
  return /\bhas\(\s*(?:jwt|subscription|product)\b/.test(source)
}

function contextOf(
  section: StatementPlace["section"],
  pathParameters: readonly string[],
  { ways }: Auth,
  values: readonly string[],
): RequestPlace {
  // Without a valid `auth` everything it could bring is assumed, so that the one finding about it stays the only one.
  const open = ways.length === 0
  return {
    section,
    pathParameters,
    claims: open ? "any" : claimsOf(ways),
    subscription: open || ways.some(({ kind }) => kind === "subscription" || kind === "policy"),
    values,
  }
}

/** The claims tokens of any way may hold: a claim with two types is `dyn`. */
function claimsOf(ways: readonly AuthWay[]): ClaimTypes | undefined {
  let known: Record<string, CelType> | undefined
  for (const { kind, claims } of ways) {
    // What a policy document checks is its own business: a claim that is not there has no value when it is asked for.
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
