import type { RequestSender } from "../../http/client/http-client.ts"
import type { TokenVerifier } from "../../identity/verifier.ts"
import { OidcClient, type OidcSettings } from "../../oidc/oidc-client.ts"
import { SharedSessions } from "../../oidc/shared-sessions.ts"
import { digestOf } from "../../plan/canonical.ts"
import type { OidcClientPlan } from "../../plan/oidc-client.ts"
import type { PlanBody } from "../../plan/plan.ts"
import type { Clock } from "../../policies/clock.ts"
import type { Held } from "./held.ts"
import { issuerSettingsOf } from "./issuer-settings.ts"
import { type LoginPath, LoginPaths } from "./login-paths.ts"
import type { Outside, References } from "./references.ts"
import type { SharedResources } from "./shared-counters.ts"

/** Clients of OpenID providers by their names in the plan. */
export type OidcClients = ReadonlyMap<string, Held<OidcClient>>

/** What creating clients needs. */
interface OidcMaker {
  readonly references: References
  readonly dependencies: Outside & { readonly http: RequestSender; readonly clock: Clock }
  attempt(place: string, make: () => unknown): void
  take<T>(before: Held<T> | undefined, key: string, make: () => { value: T; close: () => void }): Held<T>
}

/** Creates the clients, or reuses those of the previous plan with what they know of their providers. */
export function provisionOidcClients(
  maker: OidcMaker,
  plan: PlanBody,
  verifiers: ReadonlyMap<string, Held<TokenVerifier>>,
  shared: SharedResources,
  previous: OidcClients | undefined,
): OidcClients {
  const clients = new Map<string, Held<OidcClient>>()
  const uses = accessTokenUses(plan)
  const { now } = maker.dependencies.clock
  for (const [name, client] of Object.entries(plan.oidcClients ?? {})) {
    const verifier = verifiers.get(client.issuer)
    // A problem of the issuer is reported there.
    if (verifier === undefined) continue
    maker.attempt(`oidcClients.${name}`, () => {
      const settings = oidcSettingsOf(maker, plan, name, client, uses)
      const redis = client.store === "redis" ? shared.sessions : undefined
      const key = digestOf({ ...settings, verifier: verifier.key, redis: redis?.key ?? null })
      const make = () => ({
        value: new OidcClient(settings, {
          http: maker.dependencies.http,
          verifier: verifier.value,
          shared:
            redis === undefined
              ? undefined
              : (keys) => new SharedSessions(name, keys, { ...redis.value, now }),
          now,
        }),
        close: () => undefined,
      })
      clients.set(name, maker.take(previous?.get(name), key, make))
    })
  }
  return clients
}

/**
 * The settings of a client with its texts resolved. `uses`: what routes do with its access token.
 * @throws Error with what is wrong
 */
export function oidcSettingsOf(
  {
    references,
    dependencies,
  }: { readonly references: References; readonly dependencies: Pick<Outside, "folder"> },
  plan: Pick<PlanBody, "issuers">,
  name: string,
  client: OidcClientPlan,
  uses: AccessTokenUses = noUses,
): OidcSettings {
  const issuer = plan.issuers[client.issuer]
  const source = issuer && issuerSettingsOf(client.issuer, issuer, references, dependencies.folder).source
  if (source === undefined || !("discovery" in source))
    throw new Error(`the issuer \`${client.issuer}\` has no discovery document`)
  const external = client.external === undefined ? undefined : references.text(client.external)
  if (external !== undefined && !isOrigin(external))
    throw new Error(
      `\`external\` of \`${name}\` must be a scheme and a host, e.g. \`https://app.example.com\``,
    )
  return {
    name,
    ...{ discovery: source.discovery, exact: source.exact === true },
    client: references.text(client.client),
    secret: client.secret === undefined ? undefined : (references.secrets.get(client.secret) ?? ""),
    scope: client.scope,
    parameters: Object.entries(client.parameters ?? {}).map(([each, value]) => [
      each,
      references.text(value),
    ]),
    sessionKeys: client.sessionKeys.map(({ secret }) => ({
      name: secret,
      text: references.secrets.get(secret) ?? "",
    })),
    lifetimeMs: client.lifetimeSeconds * 1000,
    external,
    paths: client.paths,
    backChannelLogout: client.backChannelLogout,
    afterLogout: client.afterLogout,
    keepsAccessToken: uses.forwarded.has(name) || uses.read.has(name),
    readsAccessToken: uses.read.has(name),
  }
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text && /^https?:/.test(text)
}

/** The clients whose access token a step forwards, and those whose access token it takes claims from. */
interface AccessTokenUses {
  readonly forwarded: ReadonlySet<string>
  readonly read: ReadonlySet<string>
}

const noUses: AccessTokenUses = { forwarded: new Set(), read: new Set() }

function accessTokenUses({ steps }: PlanBody): AccessTokenUses {
  const sessions = Object.values(steps).filter((step) => step.kind === "oidc-session")
  const clients = (found: typeof sessions) => new Set(found.map(({ client }) => client))
  return {
    forwarded: clients(sessions.filter(({ forward }) => forward === "access-token")),
    read: clients(sessions.filter(({ claimsFrom }) => claimsFrom !== undefined)),
  }
}

/** A path that the gateway serves for a client. */
export interface OidcEndpoint {
  readonly client: OidcClient
  readonly does: LoginPath["does"]
}

/** The paths of the clients of a generation. */
export class OidcEndpoints {
  readonly #paths: LoginPaths
  readonly #clients: OidcClients

  /** @throws Error when two clients have the same path on one host */
  constructor(plan: PlanBody, clients: OidcClients) {
    this.#paths = new LoginPaths(plan)
    this.#clients = clients
  }

  /** The endpoint at a canonical path; undefined: it belongs to the routes. */
  find(path: string, authority: string): OidcEndpoint | undefined {
    const found = this.#paths.find(path, authority)
    const client = found && this.#clients.get(found.client)?.value
    return found && client && { client, does: found.does }
  }
}
