import type { PlanBody } from "../../plan/plan.ts"
import type { Route } from "../../plan/resources.ts"
import type { CredentialSource, ShownCredential } from "../../plan/step-values.ts"
import { isCredential, namedBy, type Step, type StepId, shownTo, stepsReached } from "../../plan/steps.ts"
import { basicAuthorization } from "../../policies/credentials/authentication.ts"
import type { IssuedToken } from "./played-issuers.ts"
import type { LogoutOrder } from "./played-logouts.ts"
import { type SignatureOrder, type SigningContext, withSignature } from "./played-signatures.ts"
import type { ClientRequest, FieldLine } from "./world.ts"

/** Credentials of a caller, to be put where its route reads them. */
export interface Credentials {
  readonly token?: string | TokenOrder | undefined
  /** Key of a subscription. */
  readonly key?: string | undefined
  readonly password?: { readonly user: string; readonly password: string } | undefined
  readonly signature?: SignatureOrder | undefined
  /** Of a provider that ends sessions. */
  readonly logout?: LogoutOrder | undefined
}

/** What credentials are made with. */
export interface PlacingContext extends SigningContext {
  sign(token: IssuedToken): string
}

/** An order for a token; without `issuer` it is the first that the route accepts, or the first of the plan. */
export type TokenOrder = Omit<IssuedToken, "issuer"> & { readonly issuer?: string | undefined }

/**
 * A request with the credentials where its route reads them; without a route, at the usual places. A key for a route that demands none is where the
 * other routes of its API read keys, because clients of an API send it with every call.
 */
export function withCredentials(
  request: ClientRequest,
  credentials: Credentials,
  plan: PlanBody,
  route: Route | undefined,
  context: PlacingContext,
): ClientRequest {
  const places = route === undefined ? [] : placesOf(plan, route)
  let placed = request
  const { token, key, password, signature } = credentials
  if (token !== undefined) {
    const text = typeof token === "string" ? token : context.sign(completed(token, plan, route))
    const place = places.find((shown) => shown.is === "token")
    placed = withToken(placed, text, place?.is === "token" ? place.from : undefined)
  }
  if (key !== undefined) {
    const place = places.find(isKey) ?? (route && keyPlacesOf(plan).get(route.api))
    const { header = "ocp-apim-subscription-key", query = null } = place ?? {}
    placed =
      header !== null ? withField(placed, header, key) : withQuery(placed, query ?? "subscription-key", key)
  }
  if (password !== undefined)
    placed = withField(placed, "authorization", basicAuthorization(password.user, password.password))
  // Last: a signature can cover every other header.
  if (signature === undefined || route === undefined) return placed
  return withSignature(inside(plan, route.sections.inbound), placed, signature, context)
}

/** The order with what the route demands of tokens: its first issuer, and the audience of its step. Claims of the order come first. */
function completed(token: TokenOrder, plan: PlanBody, route: Route | undefined): IssuedToken {
  const steps = route === undefined ? [] : inside(plan, route.sections.inbound)
  const issuer = token.issuer ?? [...namedBy(steps, "issuers")][0] ?? Object.keys(plan.issuers)[0] ?? ""
  const demands = steps.flatMap((step) =>
    "issuers" in step && "audiences" in step && step.issuers.includes(issuer) ? (step.audiences ?? []) : [],
  )
  const [audience] = demands
  const claims = typeof audience === "string" ? { aud: audience, ...token.claims } : token.claims
  return { ...token, issuer, claims }
}

function inside({ steps }: PlanBody, ids: readonly StepId[]): Step[] {
  return [...stepsReached(steps, ids).values()]
}

const placesOfRoutes = new WeakMap<Route, readonly ShownCredential[]>()

/** Where a route reads credentials. A replay asks for each of its requests. */
function placesOf(plan: PlanBody, route: Route): readonly ShownCredential[] {
  let places = placesOfRoutes.get(route)
  if (places === undefined) {
    places = shownIn(plan, route.sections.inbound)
    placesOfRoutes.set(route, places)
  }
  return places
}

type ShownKey = Extract<ShownCredential, { readonly is: "key" }>

function isKey(shown: ShownCredential): shown is ShownKey {
  return shown.is === "key"
}

const keyPlaces = new WeakMap<PlanBody, ReadonlyMap<string, ShownKey>>()

/** Where APIs read keys, by API. */
function keyPlacesOf(plan: PlanBody): ReadonlyMap<string, ShownKey> {
  const known = keyPlaces.get(plan)
  if (known !== undefined) return known
  const found = new Map<string, ShownKey>()
  for (const route of Object.values(plan.routes)) {
    const place = found.has(route.api) ? undefined : placesOf(plan, route).find(isKey)
    if (place !== undefined) found.set(route.api, place)
  }
  keyPlaces.set(plan, found)
  return found
}

function shownIn(plan: PlanBody, ids: readonly StepId[]): ShownCredential[] {
  return inside(plan, ids).flatMap((step) => (isCredential(step) ? [shownTo(step)] : []))
}

function withToken(request: ClientRequest, token: string, from: CredentialSource | undefined): ClientRequest {
  if (from !== undefined && "header" in from)
    return withField(request, from.header, `${from.scheme ?? "Bearer"} ${token}`)
  if (from !== undefined && "query" in from) return withQuery(request, from.query, token)
  if (from !== undefined && "cookie" in from) return withField(request, "cookie", `${from.cookie}=${token}`)
  return withField(request, "authorization", `Bearer ${token}`)
}

function withField(request: ClientRequest, name: string, value: string): ClientRequest {
  const line: FieldLine = [name, value]
  return { ...request, headers: [...request.headers, line] }
}

function withQuery(request: ClientRequest, name: string, value: string): ClientRequest {
  const pair = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
  return { ...request, target: `${request.target}${request.target.includes("?") ? "&" : "?"}${pair}` }
}
