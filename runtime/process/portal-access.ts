import { oidcSettingsOf } from "../gateway/generation/oidc-clients.ts"
import { collectSecrets } from "../gateway/generation/parts-of-plan.ts"
import type { References } from "../gateway/generation/references.ts"
import type { RequestSender } from "../http/client/http-client.ts"
import { OidcClient } from "../oidc/oidc-client.ts"
import type { PlanBody } from "../plan/plan.ts"
import type { LoadText } from "../plan/text.ts"
import { Published } from "../portal/published.ts"
import type { PortalScene, SignIn } from "../portal/scene.ts"
import { browserOrigin } from "./browser-origin.ts"
import { ListenerAccess, type ListenerAccessSettings, type Verifiers } from "./listener-access.ts"

/** What the portal is made of; undefined: the plan has none. */
export interface PortalCallers {
  readonly scene: PortalScene | undefined
}

/** The certificates of the portal's listeners, and its login, across plans. */
export class PortalAccess extends ListenerAccess<PortalCallers> {
  constructor(settings: ListenerAccessSettings & { readonly http: RequestSender }) {
    super(settings, {
      name: "portal",
      issuers: ({ portal }) => (portal?.signIn === undefined ? [] : [portal.signIn.client.issuer]),
      isTraced: () => false,
      keys: ({ portal }) => {
        const secrets = new Set<string>()
        collectSecrets(portal?.signIn?.client, secrets)
        if (portal?.signIn?.client.secret !== undefined) secrets.add(portal.signIn.client.secret)
        return [...secrets]
      },
      callers: (plan, references, verifiers) => ({ scene: sceneOf(plan, references, verifiers, settings) }),
    })
  }
}

function sceneOf(
  plan: PlanBody,
  references: References,
  verifiers: Verifiers,
  settings: Pick<ListenerAccessSettings, "folder"> & { readonly http: RequestSender },
): PortalScene | undefined {
  const { portal } = plan
  if (portal === undefined) return undefined
  const external = originIn(portal.external, "external", references)
  const gateway = originIn(portal.gateway, "gateway", references) ?? null
  return {
    ...{ portal, external, gateway },
    published: new Published(plan, portal, gateway),
    signIn: signInOf(plan, references, verifiers, settings),
  }
}

function originIn(text: LoadText | undefined, field: string, references: References): string | undefined {
  return text && browserOrigin(text, `\`${field}\` of the portal`, references)
}

function signInOf(
  plan: PlanBody,
  references: References,
  verifiers: Verifiers,
  dependencies: Pick<ListenerAccessSettings, "folder"> & { readonly http: RequestSender },
): SignIn | undefined {
  const signIn = plan.portal?.signIn
  const verifier = signIn && verifiers.get(signIn.client.issuer)?.value
  if (signIn === undefined || verifier === undefined) return undefined
  const { name, client, owner } = signIn
  // A session of the gateway must not be one of the portal: names of clients have no `~`.
  const settings = {
    ...oidcSettingsOf({ references, dependencies }, plan, name, client),
    name: `${name}~portal`,
  }
  return {
    client: new OidcClient(settings, { http: dependencies.http, verifier, shared: undefined, now: Date.now }),
    ...{ issuer: client.issuer, paths: client.paths, owner },
  }
}
