import type { PlanBody } from "../../plan/plan.ts"
import type { PlayedIssuers } from "./played-issuers.ts"
import type { ClientRequest } from "./world.ts"

/** A logout that a provider sends: claims of its token, `sub` or `sid` among them. */
export interface LogoutOrder {
  readonly claims: Readonly<Record<string, unknown>>
  readonly isForged: boolean
}

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

/** The request of a provider that ends sessions (OpenID Connect Back-Channel Logout 1.0 §2.5): with a logout token for the client whose path it is. */
export function withLogout(
  request: ClientRequest,
  { claims, isForged }: LogoutOrder,
  { oidcClients = {} }: PlanBody,
  context: {
    readonly issuers: PlayedIssuers
    /** The id of a client. */
    readonly idOf: (client: string) => string
    /** A number that no other request has. */
    readonly next: () => number
  },
): ClientRequest {
  const [path] = request.target.split("?", 1)
  const found = Object.entries(oidcClients).find(([, { backChannelLogout }]) => backChannelLogout === path)
  if (found === undefined) return request
  const [name, { issuer }] = found
  const token = context.issuers.sign({
    ...{ issuer, isForged },
    claims: {
      ...{ aud: context.idOf(name), jti: `logout-${context.next()}`, events: { [logoutEvent]: {} } },
      ...claims,
    },
  })
  return {
    ...request,
    headers: [...request.headers, ["content-type", "application/x-www-form-urlencoded"]],
    body: Buffer.from(new URLSearchParams({ logout_token: token }).toString()),
  }
}
