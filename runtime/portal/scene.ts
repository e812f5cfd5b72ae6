import type { OidcClient, OidcPaths } from "../oidc/oidc-client.ts"
import type { PortalPlan } from "../plan/portal.ts"
import type { Published } from "./published.ts"

/** How people sign in. `owner`: the claim by which subscriptions belong to them. */
export interface SignIn {
  readonly client: OidcClient
  readonly issuer: string
  readonly paths: OidcPaths
  readonly owner: string
}

/** The portal of the running plan, with everything from outside resolved. `external`, `gateway`: scheme and host, if known. */
export interface PortalScene {
  readonly portal: PortalPlan
  readonly published: Published
  readonly external: string | undefined
  readonly gateway: string | null
  readonly signIn: SignIn | undefined
}
