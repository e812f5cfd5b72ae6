import { isReturnPath } from "../../oidc/return-path.ts"
import type { OidcClientPlan } from "../../plan/oidc-client.ts"
import type { Plan } from "../../plan/plan.ts"
import type { ProblemName } from "../../policies/messages/answer.ts"
import { type LoginPath, loginMethods } from "../generation/login-paths.ts"
import type { LoginExplanation, RequestExplanation, RequestQuestion, Verdict } from "./request-explanation.ts"

type Asked = Pick<RequestExplanation, "request" | "live">

/** Explains a request for a path that the gateway serves for an OIDC client. No provider is asked, and no cookie is opened. */
export function explainLogin(
  plan: Plan,
  { client: name, does }: LoginPath,
  asked: Asked,
  question: RequestQuestion,
): RequestExplanation {
  const client = plan.plan.oidcClients?.[name]
  if (client === undefined) throw new Error(`there is no OIDC client \`${name}\``)
  const place = plan.origins[`oidcClients.${name}`] ?? ""
  const path = does === "back-channel-logout" ? (client.backChannelLogout ?? "") : client.paths[does]
  return {
    ...asked,
    ...{ route: null, lost: [], sections: [], trouble: [] },
    why: `\`${path}\` is the \`${does}\` path of \`oidc ${name}\`, which the gateway serves itself`,
    login: { client: name, does, place, order: order[does](client, asked.request.host) },
    verdict: verdictOf(does, client, { kind: `oidc ${name}`, place }, question),
  }
}

/** What happens, in this order. */
const order: Readonly<
  Record<LoginPath["does"], (client: OidcClientPlan, host: string) => LoginExplanation["order"]>
> = {
  login: ({ issuer, paths, scope, external }, host) => [
    "reads `return_to`, the page to open afterwards: only a path of this site",
    `reads the login page of the provider from the discovery document of \`issuer ${issuer}\`; without it: 503 \`issuer-unavailable\``,
    "makes `state`, `nonce` and the code verifier of PKCE, and gives them to the browser in an encrypted cookie for ten minutes",
    `redirects the browser to the provider with scope \`${scope}\`; it returns to \`${external === undefined ? `//${host}` : originWords(external)}${paths.callback}\``,
  ],
  callback: ({ issuer, store, lifetimeSeconds, secret }) => [
    "finds the login of `state` in a cookie of this browser, and removes the cookie; without it: 400 `login-invalid`",
    "compares `iss` with the provider, if the provider says that it sends it",
    "ends with 403 `login-refused` if the response has an `error`",
    `exchanges the code for tokens at the provider, with the code verifier${secret === undefined ? "" : ` and \`secret ${secret}\``}`,
    `verifies the ID token: signature by a key of \`issuer ${issuer}\`, issuer, audience (the client), expiry, and \`nonce\``,
    store === "redis"
      ? `keeps the session in Redis for ${lifetimeSeconds} s, encrypted, and gives the browser a new random id of it`
      : `gives the session to the browser for ${lifetimeSeconds} s, in encrypted cookies`,
    "redirects the browser to the page that it wanted",
  ],
  logout: ({ store, afterLogout }) => [
    "refuses requests that a page of another site has caused: 403",
    store === "redis"
      ? "removes the session from Redis, which ends every copy of its cookie, and removes the cookie"
      : "removes the cookies of the session; a copy of them stays valid until the session expires",
    "redirects the browser to the logout page of the provider, if it has one, with the ID token as a hint",
    afterLogout === undefined
      ? "the provider shows its own page"
      : `the provider returns it to \`${afterLogout}\``,
  ],
  "back-channel-logout": ({ issuer }) => [
    "reads `logout_token` from the form; cookies do not count",
    `verifies it: signature by a key of \`issuer ${issuer}\`, issuer, audience (the client), expiry, \`events\`, no \`nonce\`, at most ten minutes old; otherwise 400 \`invalid-request\``,
    "refuses a token whose `jti` was used before",
    "ends the sessions of `sid` in Redis; without `sid`, all sessions of `sub`",
  ],
}

function originWords(external: NonNullable<OidcClientPlan["external"]>): string {
  return typeof external === "string" ? external : "ORIGIN"
}

const assumed: Readonly<Record<LoginPath["does"], string>> = {
  login: "the provider can be reached",
  callback: "the response belongs to a login of this browser, and the provider gives valid tokens",
  logout: "a page of this site started the logout",
  "back-channel-logout": "the logout token is valid and was not used before, and Redis can be reached",
}

/** How the request ends. */
function verdictOf(
  does: LoginPath["does"],
  { afterLogout }: OidcClientPlan,
  by: NonNullable<(Verdict & { kind: "answered" })["by"]>,
  { method, target }: RequestQuestion,
): Verdict {
  const refused = (status: number, problem: ProblemName, cause: string): Verdict => ({
    ...{ kind: "answered", status, problem, cause, by, assuming: [] },
  })
  const allowed = loginMethods[does]
  if (!allowed.includes(method))
    return refused(405, "method-not-allowed", `only ${allowed.join(" and ")} is served here`)
  const query = new URLSearchParams(target.split("?")[1] ?? "")
  if (does === "login" && !isReturnPath(query.get("return_to") ?? "/"))
    return refused(400, "invalid-request", "`return_to` of the login is not a path of this site")
  if (does === "callback" && (query.get("state") ?? "") === "")
    return refused(400, "login-invalid", "the response has no valid `state`")
  const status = does === "back-channel-logout" ? 200 : 302
  const noPage = does === "logout" && afterLogout === undefined ? ["the provider has a logout page"] : []
  return { kind: "answered", status, by, assuming: [assumed[does], ...noPage] }
}
