import type { BrowserRequest, OidcClient } from "../../oidc/oidc-client.ts"
import { isReturnPath } from "../../oidc/return-path.ts"
import type { Exchange } from "../../policies/exchange.ts"
import { problem } from "../../policies/messages/answer.ts"
import { loginAnswer } from "../../policies/messages/login-answer.ts"
import type { Outcome } from "../../policies/policy.ts"
import { failureOf } from "../../policies/run-steps.ts"
import { loginMethods } from "../generation/login-paths.ts"
import type { OidcEndpoint } from "../generation/oidc-clients.ts"
import type { LiveExchange } from "./live-exchange.ts"

/** A logout token has less than 1 kB; a verifier accepts 8 KiB. */
const logoutBytesMax = 16 * 1024

/** Serves a path of an OIDC client. */
export async function serveOidc({ client, does }: OidcEndpoint, exchange: LiveExchange): Promise<Outcome> {
  const { method, originalQuery } = exchange
  const allowed = loginMethods[does]
  if (!allowed.includes(method))
    return problem("method-not-allowed", { headers: ["allow", allowed.join(", ")] })
  if (does === "back-channel-logout") return endByProvider(client, exchange)
  const request: BrowserRequest = {
    origin: `${exchange.scheme}://${exchange.authority}`,
    cookies: exchange.ownCookies,
  }
  const query = new URLSearchParams(originalQuery)
  if (does === "callback") return loginAnswer(await client.finish(request, query))
  if (does === "login") {
    const returnTo = query.get("return_to") ?? "/"
    if (!isReturnPath(returnTo))
      return problem("invalid-request", {
        message: "`return_to` must be a path of this site.",
        cause: "`return_to` of the login is not a path of this site",
      })
    return loginAnswer(await client.begin(request, returnTo))
  }
  if (isForeign(exchange, request.origin))
    return problem("forbidden", {
      message: "A logout must be started by a page of this site.",
      cause: "another site wants to end the session",
    })
  const step = await client.end(request)
  return step.kind === "done" ? loggedOut(step.cookies) : loginAnswer(step)
}

/** The provider ends sessions (OpenID Connect Back-Channel Logout 1.0). No browser takes part, and no cookie counts. */
async function endByProvider(client: OidcClient, exchange: LiveExchange): Promise<Outcome> {
  const { headers, requestBody, sentLength = 0 } = exchange
  const refused = (cause: string) =>
    problem("invalid-request", {
      headers: ["cache-control", "no-store"],
      message: "The logout request is not valid.",
      cause,
    })
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(headers.get("content-type") ?? ""))
    return refused("the logout request is no form")
  if (sentLength > logoutBytesMax)
    return problem("body-too-large", { cause: `a body of ${sentLength} bytes` })
  try {
    await requestBody.load()
  } catch (error) {
    return failureOf(error, exchange)
  }
  const [token, ...others] = new URLSearchParams(requestBody.text()).getAll("logout_token")
  if (token === undefined || others.length > 0)
    return refused(`the logout request has ${token === undefined ? "no" : "two"} \`logout_token\``)
  const found = await client.endByProvider(token)
  if (found.kind === "invalid") return refused(found.cause)
  if (found.kind === "unavailable")
    return problem(found.what === "provider" ? "issuer-unavailable" : "sessions-unavailable", {
      headers: ["retry-after", "1"],
      presented: true,
      cause: found.cause,
    })
  const cause = `the provider has ended ${found.sessions} ${found.sessions === 1 ? "session" : "sessions"}`
  return { kind: "answer", status: 200, headers: ["cache-control", "no-store"], body: undefined, cause }
}

/**
 * Whether a page of another site caused the request. Browsers say so in `Sec-Fetch-Site`; older ones send `Origin` with every POST. A GET without either is
 * allowed: the worst it can do is a logout.
 */
function isForeign({ method, headers }: Exchange, origin: string): boolean {
  const site = headers.get("sec-fetch-site")
  if (site !== undefined) return site !== "same-origin" && site !== "none"
  return method === "POST" && headers.get("origin") !== origin
}

const page = Buffer.from(
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Logged out</title><p>You are logged out of this site.</p></html>\n',
)

/** The provider has no page for logouts, or cannot be reached. */
function loggedOut(cookies: readonly string[]): Outcome {
  const headers = ["content-type", "text/html; charset=utf-8", "cache-control", "no-store"]
  headers.push("content-security-policy", "default-src 'none'; frame-ancestors 'none'")
  for (const line of cookies) headers.push("set-cookie", line)
  return { kind: "answer", status: 200, headers, body: page }
}
