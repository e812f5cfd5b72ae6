import type { PlanBody } from "../../plan/plan.ts"
import type { Route } from "../../plan/resources.ts"
import type { CredentialSource, ShownCredential } from "../../plan/step-values.ts"
import { isCredential, nestedSteps, type StepId, shownTo } from "../../plan/steps.ts"
import { basicAuthorization } from "../../policies/credentials/authentication.ts"
import type { ClientRequest, FieldLine } from "./world.ts"

/** Credentials of a caller, to be put where its route reads them. */
export interface Credentials {
  readonly token?: string | undefined
  /** Key of a subscription. */
  readonly key?: string | undefined
  readonly password?: { readonly user: string; readonly password: string } | undefined
}

/** A request with the credentials where its route reads them; without a route, at the usual places. */
export function withCredentials(
  request: ClientRequest,
  credentials: Credentials,
  plan: PlanBody,
  route: Route | undefined,
): ClientRequest {
  const places = route === undefined ? [] : shownIn(plan, route.sections.inbound)
  let placed = request
  const { token, key, password } = credentials
  if (token !== undefined) {
    const place = places.find((shown) => shown.is === "token")
    placed = withToken(placed, token, place?.is === "token" ? place.from : undefined)
  }
  if (key !== undefined) {
    const place = places.find((shown) => shown.is === "key")
    const { header = "ocp-apim-subscription-key", query = null } = place?.is === "key" ? place : {}
    placed =
      header !== null ? withField(placed, header, key) : withQuery(placed, query ?? "subscription-key", key)
  }
  if (password !== undefined)
    placed = withField(placed, "authorization", basicAuthorization(password.user, password.password))
  return placed
}

function shownIn(plan: PlanBody, ids: readonly StepId[]): ShownCredential[] {
  return ids.flatMap((id) => {
    const step = plan.steps[id]
    if (step === undefined) return []
    const inside = nestedSteps(step).flatMap(({ steps }) => shownIn(plan, steps))
    return isCredential(step) ? [shownTo(step), ...inside] : inside
  })
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
