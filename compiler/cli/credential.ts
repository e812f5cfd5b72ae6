import { CliError } from "./command.ts"
import { folderToken, givenToken, tokenFile } from "./control-token.ts"
import type { Io } from "./io.ts"
import { LoginStore, loginCommand, type StoredLogin } from "./logins.ts"

/** The credential for one control API. */
export interface ControlCredential {
  /** For people: `the login of ann`. */
  readonly what: string
  /** The bearer token for a request that is sent now. */
  token(): Promise<string>
  /** What to do when the control API refuses it. */
  readonly remedy: string
  /** Commands get a new token before this one expires. */
  readonly isRefreshed?: boolean
}

/** A login is refreshed this long before its access token expires; at most a third of the lifetime. */
const leewayMs = 30_000

/**
 * The credential for the control API at `url`, by precedence: SALLYPORT_CONTROL_TOKEN or SALLYPORT_CONTROL_TOKEN_FILE, the login of `sallyport
 * login` at this URL, the token that `serve` and `dev` left in this folder.
 * @throws CliError when there is none, or it cannot be read
 */
export async function credentialFor(io: Io, url: string): Promise<ControlCredential> {
  const given = await givenToken(io)
  if (given !== undefined) return givenCredential(given)
  const login = await new LoginStore(io).read(url)
  if (login !== undefined) return new LoginCredential(io, login)
  const left = await folderToken(io)
  if (left !== undefined)
    return {
      what: `the control token in ${tokenFile}`,
      token: async () => left,
      remedy: `Set SALLYPORT_CONTROL_TOKEN to the token that Sallyport was started with, or log in with ${loginCommand(url)}.`,
    }
  throw new CliError(
    `no control token for ${url}: SALLYPORT_CONTROL_TOKEN is not set, there is no login at this URL, and no \`sallyport dev\` has run in this folder`,
    `Start \`sallyport dev\` in this folder, or log in with ${loginCommand(url)}, or set SALLYPORT_CONTROL_URL and SALLYPORT_CONTROL_TOKEN of the Sallyport to use.`,
  )
}

/** A token of the environment, or of `dev` itself. */
export function givenCredential(token: string): ControlCredential {
  return {
    what: "the control token of the environment",
    token: async () => token,
    remedy:
      "Set SALLYPORT_CONTROL_TOKEN, or the file of SALLYPORT_CONTROL_TOKEN_FILE, to the token that Sallyport was started with, or unset both and log in with `sallyport login`.",
  }
}

/** A stored login, which is refreshed before its access token expires. */
class LoginCredential implements ControlCredential {
  readonly what: string
  readonly remedy: string
  readonly isRefreshed: boolean
  readonly #logins: LoginStore
  #login: StoredLogin
  #refreshing: Promise<StoredLogin> | undefined

  constructor(io: Io, login: StoredLogin) {
    this.#logins = new LoginStore(io)
    this.#login = login
    this.isRefreshed = login.refreshToken !== null
    this.what = `the login of \`${login.name}\``
    this.remedy = `Log in again with ${loginCommand(login.control)}, or end the login with \`sallyport logout --control ${login.control}\`.`
  }

  async token(): Promise<string> {
    if (isFresh(this.#login)) return this.#login.accessToken
    // Requests that are sent together refresh once.
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined
    })
    this.#login = await this.#refreshing
    return this.#login.accessToken
  }

  #refresh(): Promise<StoredLogin> {
    const { control } = this.#login
    return this.#logins.exclusively(control, async () => {
      const stored = await this.#logins.read(control)
      if (stored === undefined)
        throw new CliError(`the login at ${control} was ended meanwhile`, `Run ${loginCommand(control)}.`)
      // Another command was first.
      if (isFresh(stored)) return stored
      const next = await refreshed(stored)
      if (next !== stored) await this.#logins.write(next)
      return next
    })
  }
}

/** A login with new tokens; the same one while it cannot be refreshed and is still valid. */
async function refreshed(login: StoredLogin): Promise<StoredLogin> {
  const { control, discovery, client, scope, refreshToken } = login
  const ended = (why: string, help = `Run ${loginCommand(control)}.`) =>
    new CliError(`the login of \`${login.name}\` at ${control} has expired${why}`, help)
  const isValid = Date.parse(login.expiresAt ?? "") > Date.now()
  if (refreshToken === null) {
    if (isValid) return login
    throw ended(", and the provider gave no refresh token")
  }
  const [{ DeviceLogin }, { ProviderError }, { HttpClient }] = await Promise.all([
    import("../../runtime/oidc/device-login.ts"),
    import("../../runtime/oidc/provider.ts"),
    import("../../runtime/http/client/http-client.ts"),
  ])
  const http = new HttpClient()
  try {
    const provider = new DeviceLogin({ discovery, client, scope: scope ?? undefined }, http)
    return withTokens(login, await provider.refresh(refreshToken))
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    if (isValid) return login
    throw error.reason === "unavailable"
      ? ended(
          ` and cannot be refreshed: ${error.message}`,
          "Run the command again when the provider responds.",
        )
      : ended(`, and the provider does not refresh it: ${error.message}`)
  } finally {
    await http.close()
  }
}

/** A login with the tokens of a response that has arrived now. */
export function withTokens<Login extends Omit<StoredLogin, keyof TokenFields>>(
  login: Login,
  tokens: {
    readonly accessToken: string
    readonly refreshToken: string | undefined
    readonly lifetimeMs: number | undefined
  },
): Login & TokenFields {
  const now = Date.now()
  const { accessToken, refreshToken, lifetimeMs } = tokens
  return {
    ...login,
    ...{ accessToken, refreshToken: refreshToken ?? null, obtainedAt: new Date(now).toISOString() },
    expiresAt: lifetimeMs === undefined ? null : new Date(now + lifetimeMs).toISOString(),
  }
}

type TokenFields = Pick<StoredLogin, "accessToken" | "refreshToken" | "obtainedAt" | "expiresAt">

function isFresh({ obtainedAt, expiresAt }: StoredLogin): boolean {
  if (expiresAt === null) return true
  const end = Date.parse(expiresAt)
  const lifetimeMs = end - Date.parse(obtainedAt)
  return Date.now() < end - Math.min(leewayMs, lifetimeMs / 3)
}
