import { createHash } from "node:crypto"
import type { RequestSender } from "../../http/client/http-client.ts"
import type { TokenVerifier } from "../../identity/verifier.ts"
import { type LoginStep, OidcClient, type OidcSettings } from "../../oidc/oidc-client.ts"
import { type OwnCookies, ownCookiesIn } from "../../oidc/own-cookies.ts"
import type { ControlCallers, Denial, OperatorIssuer } from "../operators.ts"
import type { ConsoleSession } from "./sessions.ts"

/** As for sessions by a token. */
const lifetimeMs = 12 * 3_600_000

/** What logins need. `callers`: those of the running plan; `http`: requests to providers. */
export interface LoginParts {
  readonly token: string
  readonly callers: () => ControlCallers | undefined
  readonly http: RequestSender
  /** Milliseconds since the epoch; replaced in tests. */
  readonly now?: (() => number) | undefined
}

interface KnownClient {
  readonly settings: string
  readonly verifier: TokenVerifier
  readonly client: OidcClient
}

/**
 * Signs people in to the console at the issuers of the control API that have a `login`: authorization code with PKCE. The session is the person's access
 * token in encrypted cookies, and is refreshed while the provider allows it. Each request is checked like one with the token itself.
 */
export class ConsoleLogins {
  readonly #parts: LoginParts
  /** Across plans with the same issuer: a client knows the provider's endpoints, and which refreshes run. */
  readonly #clients = new Map<string, KnownClient>()

  constructor(parts: LoginParts) {
    this.#parts = parts
  }

  /** Sends the browser to the provider. `origin`: scheme and host of the console as the browser sees it. Undefined: the issuer has no login. */
  async begin(
    issuer: string,
    origin: string,
    cookies: string | undefined,
    target: string,
  ): Promise<LoginStep | undefined> {
    return this.#client(issuer)?.begin({ origin, cookies: ownCookiesIn(cookies) }, target)
  }

  /** Takes the response of the provider. Undefined: the issuer has no login. */
  async finish(
    issuer: string,
    cookies: string | undefined,
    query: URLSearchParams,
  ): Promise<LoginStep | undefined> {
    // The redirect URI is in the pending login.
    return this.#client(issuer)?.finish({ origin: "", cookies: ownCookiesIn(cookies) }, query)
  }

  /** The session in a Cookie header; undefined: none that is valid. A denial: its token has expired, and the provider does not respond. */
  async find(cookies: string | undefined): Promise<ConsoleSession | Denial | undefined> {
    const own = ownCookiesIn(cookies)
    let denial: Denial | undefined
    for (const issuer of issuersIn(own)) {
      const found = await this.#client(issuer)?.session(own, { forward: "access-token" })
      if (found?.kind === "session" && found.token !== undefined)
        return { authorization: `Bearer ${found.token}`, renewal: found.cookies }
      if (found?.kind === "unavailable") {
        const detail = `the issuer \`${issuer}\` does not respond, and the token of the session has expired`
        denial = { denied: "issuer-unavailable", detail }
      }
    }
    return denial
  }

  /** Ends the sessions in a Cookie header: the lines of Set-Cookie that remove them, and the page of the provider that ends its own session, if it has one. */
  async end(
    cookies: string | undefined,
  ): Promise<{ readonly lines: readonly string[]; readonly page: string | undefined }> {
    const own = ownCookiesIn(cookies)
    const lines: string[] = []
    let page: string | undefined
    for (const issuer of issuersIn(own)) {
      const step = await this.#client(issuer)?.end({ origin: "", cookies: own })
      if (step === undefined) continue
      lines.push(...step.cookies)
      if (step.kind === "redirect") page = step.location
    }
    return { lines, page }
  }

  #client(name: string): OidcClient | undefined {
    const { callers, http, token, now = Date.now } = this.#parts
    const issuer = callers()?.issuers.find((each) => each.name === name)
    const settings = issuer === undefined ? undefined : settingsOf(issuer, token)
    if (issuer === undefined || settings === undefined) return undefined
    const text = JSON.stringify(settings)
    const known = this.#clients.get(name)
    if (known?.settings === text && known.verifier === issuer.verifier) return known.client
    const { verifier } = issuer
    const client = new OidcClient(settings, { http, verifier, shared: undefined, now })
    this.#clients.set(name, { settings: text, verifier, client })
    return client
  }
}

function settingsOf(
  { name, discovery, exact, plan }: OperatorIssuer,
  token: string,
): OidcSettings | undefined {
  if (discovery === undefined || plan.login === undefined) return undefined
  const { client, scope = "" } = plan.login
  const words = new Set(["openid", ...scope.split(" ").filter((each) => each !== "")])
  const callback = `/console/login/${encodeURIComponent(name)}`
  return {
    ...{ name: `${cookiesBegin}${name}`, discovery, exact, client, secret: undefined },
    ...{ scope: [...words].join(" "), parameters: [], lifetimeMs, external: undefined },
    // Keys of sessions have at least 32 bytes, and a control token may be shorter.
    sessionKeys: [{ name: "control token", text: createHash("sha256").update(token).digest("base64url") }],
    paths: { login: "/console/login", callback, logout: "/console/session" },
    ...{ backChannelLogout: undefined, afterLogout: undefined },
    ...{ keepsAccessToken: true, readsAccessToken: true },
  }
}

/** Names of issuers have no dot, so these are the names of no client of the gateway on the same host. */
const cookiesBegin = "console."

/** The issuers with a session in these cookies: the first part of a session has the name alone, as `CookieSessions` writes it. */
function issuersIn(cookies: OwnCookies): string[] {
  return [...cookies.keys()].flatMap((name) => {
    const issuer = name.startsWith(cookiesBegin) ? name.slice(cookiesBegin.length) : ""
    return issuer === "" || issuer.includes(".") ? [] : [issuer]
  })
}
