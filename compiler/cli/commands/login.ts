import type { ControlProblem, LoginAnswer, WhoamiAnswer } from "../../../runtime/control/api.ts"
import type { DeviceCode, DeviceLogin } from "../../../runtime/oidc/device-login.ts"
import { CliError, type CommandLine, command, exitCode } from "../command.ts"
import { type ControlTls, controlTlsOf } from "../control-tls.ts"
import { givenToken } from "../control-token.ts"
import { withTokens } from "../credential.ts"
import type { Io } from "../io.ts"
import { LoginStore, loginKey, type StoredLogin } from "../logins.ts"
import { textOf } from "../options.ts"
import {
  CredentialRefused,
  controlUrl,
  expectOk,
  problemError,
  type RemoteAnswer,
  remoteAt,
} from "../remote.ts"

/** An issuer at which people log in, with the public client for it. */
type LoginOffer = LoginAnswer["logins"][number]

interface LoginArgs {
  /** Undefined: the only one. */
  readonly issuer: string | undefined
}

const loginLine: CommandLine<LoginArgs> = {
  options: [["--issuer <name>", "issuer of the plan to log in at; required when several offer a login"]],
  examples: [
    ["sallyport login", "log in at the `sallyport dev` of this folder"],
    ["sallyport login --control https://ops.example:8443", "log in at another Sallyport"],
  ],
  parse: (_, options) => ({ issuer: textOf(options, "issuer") }),
}

/** Nothing is stored before the control API has accepted the token. */
export const login = command(loginLine, async ({ issuer }, io) => {
  const url = controlUrl(io)
  const tls = await controlTlsOf(io)
  const offer = offerOf(await offersAt(url, tls), issuer, url)
  warnOfPlainHttp(io, url, "the control API")
  warnOfPlainHttp(io, offer.discovery, `the issuer \`${offer.issuer}\``)
  const stored = await withProvider(offer, async (provider) => {
    const code = await provider.start()
    io.err(instructions(code))
    const tokens = await provider.wait(code)
    const found = await whoIs(url, tokens.accessToken, tls)
    if (typeof found === "string") {
      await revoke(provider, tokens.accessToken, tokens.refreshToken ?? null).catch(() => undefined)
      throw refusedToken(url, offer, tokens.accessToken, found)
    }
    const { name, role } = found
    const { issuer: from, discovery, client, scope } = offer
    const place = { control: loginKey(url), issuer: from, discovery, client, scope, name }
    return { role, login: withTokens(place, tokens) }
  })
  const logins = new LoginStore(io)
  await logins.exclusively(url, () => logins.write(stored.login))
  io.out(`Logged in at ${url} as \`${stored.login.name}\`, with the role \`${stored.role}\`.\n`)
  if ((await givenToken(io)) !== undefined)
    io.err(
      "warning: commands do not use this login, because SALLYPORT_CONTROL_TOKEN or SALLYPORT_CONTROL_TOKEN_FILE is set\n",
    )
  return exitCode.ok
})

const logoutLine: CommandLine<object> = {
  examples: [["sallyport logout", "revoke the tokens of the login, and delete them from this machine"]],
  parse: () => ({}),
}

/** The tokens are deleted here even if the provider does not respond; then it says until when the access token is valid. */
export const logout = command(logoutLine, async (_, io) => {
  const url = controlUrl(io)
  const logins = new LoginStore(io)
  // A damaged login can be ended, too, but not revoked.
  const found = await logins.read(url).catch((error: unknown) => {
    if (error instanceof CliError) return error
    throw error
  })
  if (found === undefined) {
    io.out(`There is no login at ${url}.\n`)
    return exitCode.ok
  }
  const problem =
    found instanceof CliError
      ? found.message
      : await logins.exclusively(url, async () => {
          // Another command may have refreshed it meanwhile.
          const last = (await logins.read(url)) ?? found
          await logins.remove(url)
          return revokeLogin(last)
        })
  await logins.remove(url)
  io.out(`Logged out at ${url}.\n`)
  if (problem !== undefined) io.err(`warning: ${problem}\n`)
  return exitCode.ok
})

async function offersAt(url: string, tls: ControlTls): Promise<readonly LoginOffer[]> {
  const answer = await remoteAt(url, undefined, tls).request("GET", "/v1/login")
  return expectOk<LoginAnswer>(answer).logins
}

function offerOf(offers: readonly LoginOffer[], issuer: string | undefined, url: string): LoginOffer {
  const names = offers.map((each) => `\`${each.issuer}\``).join(", ")
  if (offers.length === 0)
    throw new CliError(
      `nobody can log in at ${url}: no \`auth jwt\` in the \`control\` block of its plan has \`login\``,
      'Add `login "CLIENT"` there (`sallyport help login`), or use a token: SALLYPORT_CONTROL_TOKEN.',
    )
  const found = offers.filter((each) => issuer === undefined || each.issuer === issuer)
  if (found.length === 1) return found[0] as LoginOffer
  if (issuer === undefined)
    throw new CliError(
      `${url} offers logins at several issuers: ${names}`,
      "Choose one with `--issuer NAME`.",
    )
  throw new CliError(`${url} offers no login at an issuer \`${issuer}\``, `It offers: ${names}.`)
}

/** Runs work with the provider of a login. @throws CliError for what the provider refuses */
async function withProvider<Result>(
  { issuer, discovery, client, scope }: LoginOffer,
  work: (provider: DeviceLogin) => Promise<Result>,
): Promise<Result> {
  const [{ DeviceLogin }, { ProviderError }, { HttpClient }] = await Promise.all([
    import("../../../runtime/oidc/device-login.ts"),
    import("../../../runtime/oidc/provider.ts"),
    import("../../../runtime/http/client/http-client.ts"),
  ])
  const http = new HttpClient()
  try {
    return await work(new DeviceLogin({ discovery, client, scope: scope ?? undefined }, http))
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    throw error.reason === "refused"
      ? new CliError(`not logged in: ${error.message}`, "Run `sallyport login` again.", exitCode.refused)
      : new CliError(
          `cannot log in at the issuer \`${issuer}\`: ${error.message}`,
          error.reason === "unavailable"
            ? `Check that this machine reaches ${discovery}. NODE_EXTRA_CA_CERTS names an authority that only your network knows.`
            : `Check that the provider has a public client \`${client}\` with the device authorization grant.`,
        )
  } finally {
    await http.close()
  }
}

function instructions({ userCode, page, pageWithCode, lifetimeMs }: DeviceCode): string {
  const minutes = Math.max(1, Math.round(lifetimeMs / 60_000))
  const direct =
    pageWithCode === undefined
      ? ""
      : `Or open the page with the code in it, and check that it shows this code:\n\n    ${pageWithCode}\n\n`
  return (
    `Open this page in a browser, on this or any other device:\n\n    ${page}\n\nand enter this code:\n\n    ${userCode}\n\n` +
    `${direct}Waiting until you have logged in there. The code expires in ${minutes === 1 ? "a minute" : `${minutes} minutes`}; Ctrl-C cancels.\n`
  )
}

/** Whom the control API takes the holder of a token for, or why it refuses the token. */
async function whoIs(url: string, token: string, tls: ControlTls): Promise<WhoamiAnswer | string> {
  try {
    const answer = await remoteAt(url, token, tls).request("GET", "/v1/whoami")
    return answer.status === 403 ? reasonOf(answer) : expectOk<WhoamiAnswer>(answer)
  } catch (error) {
    if (error instanceof CredentialRefused) return error.detail ?? error.message
    throw error
  }
}

function reasonOf(answer: RemoteAnswer): string {
  return (answer.body as Partial<ControlProblem> | undefined)?.detail ?? problemError(answer).message
}

/** The error for a token that the provider gave and the control API does not accept. */
function refusedToken(url: string, { issuer, scope }: LoginOffer, token: string, why: string): CliError {
  // The control API takes it for a token of another kind, so its reason would mislead.
  const isOpaque = token.split(".").length !== 3
  return new CliError(
    `not logged in: the issuer \`${issuer}\` gave a token, but ${url} refuses it: ${isOpaque ? "it is not a JWT" : why}`,
    isOpaque
      ? `Ask for an access token in JWT form, often by the scope of an API: \`login … scope "…"\` (now: ${scope ?? "none"}).`
      : `Compare the claims of your tokens with \`issuer ${issuer}\` (\`audience\`) and with \`auth jwt ${issuer}\` in \`control\` (\`role\`, \`name\`).`,
  )
}

/** Revokes what can be revoked. False: the provider has no endpoint for it. */
function revoke(provider: DeviceLogin, access: string, refresh: string | null): Promise<boolean> {
  return refresh === null
    ? provider.revoke(access, "access_token")
    : provider.revoke(refresh, "refresh_token")
}

/** Revokes the tokens of a login at its provider. Returns a sentence when they were not revoked. */
async function revokeLogin(stored: StoredLogin): Promise<string | undefined> {
  const { accessToken, refreshToken, expiresAt } = stored
  const until = `its access token is valid until ${expiresAt ?? "the provider says otherwise"}`
  try {
    const done = await withProvider(stored, (provider) => revoke(provider, accessToken, refreshToken))
    return done ? undefined : `the provider cannot revoke tokens (RFC 7009): ${until}`
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    return `the provider did not revoke the login (${error.message}): ${until}`
  }
}

function warnOfPlainHttp(io: Io, url: string, what: string): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === "https:" || /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)) return
  io.err(
    `warning: the connection to ${what} at ${url} is not encrypted: others on the network can read the token\n`,
  )
}
