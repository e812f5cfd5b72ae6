import type { OidcClientPlan } from "../../runtime/plan/oidc-client.ts"
import { breaking, closes, type FieldRules, neutral, opens } from "../analysis/finding.ts"
import { listChanges } from "../analysis/same.ts"
import { codeWords, durationWords, textWords } from "../analysis/words.ts"

/** What a difference in an OIDC client means. Another provider or client knows other users, which the finding says. */
export const oidcRules: FieldRules<OidcClientPlan> = {
  issuer: (before, after) => [
    opens(`users of \`${after}\` can now log in`),
    breaking(`users of \`${before}\` can no longer log in`),
  ],
  client: () => opens("the provider sees another client: it may let other users in, with other claims"),
  secret: () => breaking("if the provider does not know the new secret, users cannot log in"),
  scope: () => opens("other scopes are requested: tokens may contain other claims and permissions"),
  parameters: () => opens("the login asks the provider for something else: tokens may differ"),
  sessionKeys: (before, after) => {
    const names = (keys: OidcClientPlan["sessionKeys"]) => keys.map(({ secret }) => secret)
    const { added, removed } = listChanges(names(before), names(after))
    const changes = [
      ...(added.length === 0 ? [] : [opens(`sessions encrypted with ${codeWords(added)} are now accepted`)]),
      ...(removed.length === 0
        ? []
        : [breaking(`sessions encrypted with ${codeWords(removed)} end: their users log in again`)]),
    ]
    return changes.length > 0 ? changes : [neutral("another key encrypts new sessions")]
  },
  store: () => breaking("all sessions end: users log in again"),
  lifetimeSeconds: (before, after) => {
    const words = `a session lasts for ${durationWords(after * 1000)} instead of ${durationWords(before * 1000)}`
    return after > before ? opens(words) : closes(words)
  },
  external: () => breaking("the redirect URI has another host: the provider must know it, or logins fail"),
  paths: () => breaking("the provider must know the new redirect URI, or logins fail"),
  backChannelLogout: (before, after) =>
    after === undefined
      ? opens("the provider can no longer end sessions: they continue after a logout there")
      : before === undefined
        ? closes("the provider can end sessions")
        : breaking(
            "the provider must know the new path of logouts, or sessions continue after a logout there",
          ),
  afterLogout: () => neutral("another page follows a logout"),
}

/** The statements of an OIDC client, by field of the plan. */
export const oidcStatements: {
  readonly [Key in keyof Required<OidcClientPlan>]: (client: OidcClientPlan) => string
} = {
  issuer: ({ issuer }) => `issuer ${issuer}`,
  client: ({ client, secret }) =>
    `client ${textWords(client)}${secret === undefined ? "" : ` secret ${secret}`}`,
  secret: ({ secret }) => (secret === undefined ? "no secret" : `secret ${secret}`),
  scope: ({ scope }) => `scope ${JSON.stringify(scope)}`,
  parameters: ({ parameters = {} }) =>
    Object.entries(parameters)
      .map(([name, value]) => `parameter ${JSON.stringify(name)} ${textWords(value)}`)
      .join("; ") || "no parameters",
  sessionKeys: ({ sessionKeys }) => `session-keys ${sessionKeys.map(({ secret }) => secret).join(" ")}`,
  store: ({ store }) => `session ${store}`,
  lifetimeSeconds: ({ lifetimeSeconds }) => `lifetime ${durationWords(lifetimeSeconds * 1000)}`,
  external: ({ external }) =>
    external === undefined ? "the host of the request" : `external ${textWords(external)}`,
  paths: ({ paths }) =>
    (["login", "callback", "logout"] as const)
      .map((each) => `${each} ${JSON.stringify(paths[each])}`)
      .join("; "),
  backChannelLogout: ({ backChannelLogout }) =>
    backChannelLogout === undefined
      ? "no back-channel-logout"
      : `back-channel-logout ${JSON.stringify(backChannelLogout)}`,
  afterLogout: ({ afterLogout }) =>
    afterLogout === undefined ? "the page of the provider" : `after-logout ${JSON.stringify(afterLogout)}`,
}

/** An OIDC client as declared. */
export function oidcWords(name: string, client: OidcClientPlan): string {
  const { issuer, client: id, sessionKeys } = oidcStatements
  return `oidc ${name} { ${[issuer, id, sessionKeys].map((each) => each(client)).join("; ")} }`
}
