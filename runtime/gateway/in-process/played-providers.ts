import { createHash } from "node:crypto"
import { discoveryUrl } from "../../identity/discovery.ts"
import type { PlanBody } from "../../plan/plan.ts"
import type { PlayedIssuers } from "./played-issuers.ts"
import type { BackendAnswer, BackendRequest, PlayedLogin } from "./world.ts"

/** A login that the provider has finished, until its code is exchanged. */
interface Granted {
  readonly issuer: string
  readonly client: string
  readonly claims: Readonly<Record<string, unknown>>
  readonly redirect: string
  readonly challenge: string
}

const paths = {
  authorize: "/authorize-of-the-test",
  token: "/token-of-the-test",
  endSession: "/logout-of-the-test",
  keys: "/jwks-of-the-test",
}
const accessTokenSeconds = 300

/**
 * The OpenID providers at which a plan logs browsers in: their documents, their pages, and their token endpoints, which check codes and PKCE as a
 * provider does. Pages log in at once, as the login of the test says.
 */
export class PlayedProviders {
  readonly #issuers: PlayedIssuers
  /** Names of the issuers at which the plan logs browsers in. */
  readonly #names: ReadonlySet<string>
  readonly #granted = new Map<string, Granted>()
  readonly #refreshable = new Map<string, Omit<Granted, "redirect" | "challenge">>()
  #down: ReadonlySet<string> = new Set()
  #count = 0

  constructor({ oidcClients = {} }: PlanBody, issuers: PlayedIssuers) {
    this.#issuers = issuers
    this.#names = new Set(Object.values(oidcClients).map(({ issuer }) => issuer))
  }

  restart(down: ReadonlySet<string>): void {
    this.#down = down
    this.#granted.clear()
    this.#refreshable.clear()
    this.#count = 0
  }

  /** The response of a provider to a request of the gateway; undefined: the request is not for a provider. */
  answer({ origin, method, target, headers, body }: BackendRequest): BackendAnswer | undefined {
    const url = new URL(target, origin)
    const issuer = this.#providerAt(url)
    if (issuer === undefined) return undefined
    if (this.#down.has(issuer)) return { failure: "refused" }
    if (method === "GET") return json(200, this.#documentOf(issuer, url))
    const basic = headers.find(([name]) => name === "authorization")?.[1]
    return this.#tokens(issuer, new URLSearchParams(body.toString("utf8")), basic)
  }

  /** Where the provider leads a browser that the gateway has sent to it; undefined: the URL is not one of a provider, or it shows a page of its own. */
  leads(location: URL, login: PlayedLogin): URL | undefined {
    const issuer = this.#providerAt(location)
    if (issuer === undefined) return undefined
    const asked = location.searchParams
    if (location.pathname === paths.endSession) return urlOf(asked.get("post_logout_redirect_uri"), asked)
    const redirect = asked.get("redirect_uri")
    const back = urlOf(redirect, asked)
    if (location.pathname !== paths.authorize || redirect === null || back === undefined) return undefined
    if (login.isRefused) {
      back.searchParams.set("error", "access_denied")
      return back
    }
    this.#count += 1
    const code = `code-${this.#count}`
    const nonce = asked.get("nonce")
    this.#granted.set(code, {
      ...{ issuer, redirect, client: asked.get("client_id") ?? "" },
      challenge: asked.get("code_challenge") ?? "",
      claims: { ...login.claims, ...(nonce === null ? {} : { nonce }) },
    })
    back.searchParams.set("code", code)
    return back
  }

  #providerAt(url: URL): string | undefined {
    const isEndpoint = Object.values(paths).includes(url.pathname)
    for (const issuer of this.#names) {
      const settings = this.#issuers.settingsOf(issuer)
      if (settings === undefined || !("discovery" in settings.source)) continue
      const { discovery, exact } = settings.source
      const document = discoveryUrl(discovery, exact)
      if (url.href === document || (isEndpoint && url.origin === new URL(document).origin)) return issuer
    }
    return undefined
  }

  #documentOf(issuer: string, url: URL): Readonly<Record<string, unknown>> {
    if (url.pathname === paths.keys) return this.#issuers.keySetOf(issuer)
    const endpoint = (path: string) => new URL(path, url).href
    return {
      issuer: this.#issuers.issOf(issuer),
      jwks_uri: endpoint(paths.keys),
      authorization_endpoint: endpoint(paths.authorize),
      token_endpoint: endpoint(paths.token),
      end_session_endpoint: endpoint(paths.endSession),
    }
  }

  #tokens(issuer: string, form: URLSearchParams, basic: string | undefined): BackendAnswer {
    const [user] = Buffer.from(basic?.replace(/^Basic /i, "") ?? "", "base64")
      .toString("utf8")
      .split(":")
    const client = form.get("client_id") ?? decodeURIComponent(user ?? "")
    const refresh = form.get("refresh_token")
    const code = form.get("code") ?? ""
    const granted = refresh === null ? this.#codeOf(code, form) : this.#refreshable.get(refresh)
    // A code, and a refresh token that is replaced at each use, is good for once.
    this.#granted.delete(code)
    this.#refreshable.delete(refresh ?? "")
    if (granted === undefined || granted.issuer !== issuer || granted.client !== client)
      return json(400, { error: "invalid_grant" })
    this.#count += 1
    const next = `refresh-${this.#count}`
    this.#refreshable.set(next, { issuer, client, claims: granted.claims })
    const { nonce, ...claims } = granted.claims
    return json(200, {
      token_type: "Bearer",
      expires_in: accessTokenSeconds,
      access_token: this.#issuers.sign({ issuer, claims }),
      id_token: this.#issuers.sign({ issuer, claims: { ...granted.claims, aud: client } }),
      refresh_token: next,
    })
  }

  #codeOf(code: string, form: URLSearchParams): Granted | undefined {
    const granted = this.#granted.get(code)
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url")
    return granted?.challenge === challenge && granted.redirect === form.get("redirect_uri")
      ? granted
      : undefined
  }
}

/** A URL to which a provider leads back, with the state of the request. */
function urlOf(text: string | null, asked: URLSearchParams): URL | undefined {
  if (text === null || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const state = asked.get("state")
  if (state !== null) url.searchParams.set("state", state)
  return url
}

function json(status: number, value: unknown): BackendAnswer {
  return {
    status,
    headers: [["content-type", "application/json"]],
    body: Buffer.from(JSON.stringify(value)),
  }
}
