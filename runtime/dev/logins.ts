import { createHash, randomBytes } from "node:crypto"
import { isSecretOf, realm } from "./realm.ts"

/** What a browser gets: a page, or the address to go to. */
export type LoginResponse =
  | { readonly status: number; readonly html: string }
  | { readonly status: 302; readonly location: string }

/** A user who has logged in at a client. */
export interface Login {
  readonly subject: string
  readonly scopes: readonly string[]
  readonly nonce: string | undefined
}

interface Code extends Login {
  readonly client: string
  readonly redirectUri: string
  readonly challenge: string
  readonly untilMs: number
}

const codeMs = 60_000
const codesMax = 1_000

/**
 * Logins of browsers: the authorization code flow with PKCE (RFC 7636, only S256). The user is asked at each login; there is no session. Any address of this
 * machine may be a redirect URI.
 */
export class Logins {
  readonly #codes = new Map<string, Code>()

  /** The authorization endpoint: shows the form, or with `form`, takes it. */
  authorize(query: URLSearchParams, form: URLSearchParams | undefined): LoginResponse {
    const redirectUri = query.get("redirect_uri") ?? ""
    const client = query.get("client_id") ?? ""
    // Nothing may be sent to an address that is not the client's.
    if (client !== realm.deviceClient && !Object.hasOwn(realm.clients, client))
      return page(400, "Client not found.")
    if (!isLocal(redirectUri)) return page(400, "Invalid parameter: redirect_uri")
    const state = query.get("state")
    const back = (answer: Record<string, string>): LoginResponse => {
      const location = new URL(redirectUri)
      for (const [name, value] of Object.entries(answer)) location.searchParams.set(name, value)
      if (state !== null) location.searchParams.set("state", state)
      return { status: 302, location: location.href }
    }
    if (query.get("response_type") !== "code") return back({ error: "unsupported_response_type" })
    const challenge = query.get("code_challenge") ?? ""
    if (query.get("code_challenge_method") !== "S256" || !/^[\w-]{43}$/.test(challenge))
      return back({ error: "invalid_request", error_description: "Missing parameter: code_challenge_method" })
    if (form === undefined) return page(200, undefined)
    const subject = form.get("username") ?? ""
    if (!isSecretOf(realm.users, subject, form.get("password") ?? ""))
      return page(200, "Invalid username or password.")
    const code = randomBytes(24).toString("base64url")
    const scopes = (query.get("scope") ?? "openid").split(" ").filter((each) => each !== "")
    const nonce = query.get("nonce") ?? undefined
    this.#keep(code, { subject, scopes, nonce, client, redirectUri, challenge, untilMs: Date.now() + codeMs })
    return back({ code })
  }

  /** The login of a code, once; undefined when it is not valid for this client. */
  redeem(form: URLSearchParams, client: string): Login | undefined {
    const code = form.get("code") ?? ""
    const found = this.#codes.get(code)
    this.#codes.delete(code)
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url")
    if (found === undefined || found.client !== client || Date.now() > found.untilMs) return undefined
    return found.redirectUri === form.get("redirect_uri") && found.challenge === challenge ? found : undefined
  }

  #keep(code: string, login: Code): void {
    const [oldest] = this.#codes.keys()
    if (this.#codes.size >= codesMax && oldest !== undefined) this.#codes.delete(oldest)
    this.#codes.set(code, login)
  }
}

/** The end of a session at the provider, which has none. */
export function endSession(query: URLSearchParams): LoginResponse {
  const to = query.get("post_logout_redirect_uri")
  if (to === null) return { status: 200, html: document("Logged out", "<p>You are logged out.</p>") }
  return isLocal(to) ? { status: 302, location: to } : page(400, "Invalid redirect uri")
}

function isLocal(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return /^https?:$/.test(protocol) && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}

/** The form, or an error. The texts are constant: nothing of the request is in the page. */
function page(status: number, error: string | undefined): LoginResponse {
  const form =
    status === 200 ? `<form method="post">${credentialFields}<button>Log in</button></form>${usersText}` : ""
  return { status, html: document("Log in", alertText(error) + form) }
}

/** An error in a page; empty without one. */
export function alertText(error: string | undefined): string {
  return error === undefined ? "" : `<p role="alert">${error}</p>`
}

/** The fields of a form for user and password. */
export const credentialFields = `<label>User <input name="username" autocomplete="username" autofocus required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
`

/** Says who can log in. */
export const usersText = `<p>Users for development: ${Object.keys(realm.users)
  .map((user) => `<code>${user}</code>`)
  .join(", ")}. Each has its name as password.</p>`

/** A whole page. */
export function document(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:22rem;margin:15vh auto;padding:0 1rem}label,input,button{display:block;width:100%;box-sizing:border-box}
input,button{font:inherit;padding:.5rem;margin:.25rem 0 1rem}[role=alert]{color:#b00020}</style><h1>${title}</h1>${body}</html>
`
}
