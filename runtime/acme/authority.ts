import { Agent } from "node:https"
import { setTimeout } from "node:timers/promises"
import { createSecureContext, type SecureContext } from "node:tls"
import acme, { type Authorization, type Client, type Order } from "acme-client"
import { hostNames } from "../http/names/host-names.ts"
import type { AcmeSettings } from "../http/server/managed-certificates.ts"
import { certificateIdOf } from "./certificate-id.ts"
import { nextQuestion, type SuggestedWindow } from "./schedule.ts"

/** How an authority reaches this fleet while an order runs. */
export interface ChallengeDesk {
  publish(challenge: {
    readonly token: string
    readonly host: string
    readonly response: string
  }): Promise<void>
  withdraw(tokens: readonly string[]): Promise<void>
}

/** A new certificate with its chain, and its key: PEM. */
export interface IssuedPair {
  readonly cert: string
  readonly key: string
}

/** An order that the authority did not fulfil. The message is for operators. */
export class OrderFailed extends Error {
  override readonly name = "OrderFailed"
  /** The pause that the authority asks for, in milliseconds. */
  readonly pauseMs: number

  constructor(message: string, pauseMs = 0) {
    super(message)
    this.pauseMs = pauseMs
  }
}

/** Limit on each response of an authority. */
const bytesMax = 1_048_576
const requestMs = 30_000
/** Pauses between two questions about the state of an order, growing from the first to the second. */
const pauseMsMin = 500
const pauseMsMax = 5_000

const { axios } = acme
/** The order or question in progress: a process runs one at a time, because the library has one HTTP client. */
let running: { readonly signal: AbortSignal; readonly agent: Agent; askedMs: number } | undefined

axios.interceptors.request.use((config) => {
  config.timeout = requestMs
  config.maxContentLength = bytesMax
  if (running !== undefined) config.httpsAgent = running.agent
  if (running !== undefined) config.signal = running.signal
  return config
})
// The library's own handler would repeat requests for minutes, wait as long as the authority says, and hide why there is no response. The schedule of
// orders does the first two, also over restarts.
axios.interceptors.response.clear()
axios.interceptors.response.use(noted, (error: { readonly response?: Response }) => {
  // The library takes every status as an error.
  if (error.response === undefined) throw error
  return noted(error.response)
})

type Response = Parameters<NonNullable<Parameters<typeof axios.interceptors.response.use>[0]>>[0]

function noted(response: Response): Response {
  if (running !== undefined && response.status >= 400)
    running.askedMs = Math.max(running.askedMs, pauseOf(String(response.headers["retry-after"] ?? "")))
  return response
}

/** A new private key (P-256) as PEM. */
export async function newKey(): Promise<string> {
  return (await acme.crypto.createPrivateEcdsaKey()).toString()
}

/**
 * Orders a certificate for all hosts of the settings (RFC 8555 §7.4). Run one order at a time. `replaced`: the certificate that it renews.
 * @throws OrderFailed, also when `signal` is aborted
 */
export async function orderCertificate(
  settings: AcmeSettings,
  accountKey: string,
  desk: ChallengeDesk,
  { replaced, signal }: { readonly replaced: string | undefined; readonly signal: AbortSignal },
): Promise<IssuedPair> {
  const { directory, externalAccount, hosts } = settings
  begin(settings, signal)
  try {
    const client = new acme.Client({
      ...{ directoryUrl: directory, accountKey },
      ...(externalAccount === undefined
        ? {}
        : { externalAccountBinding: { kid: externalAccount.id, hmacKey: externalAccount.key } }),
    })
    await register(client, settings)
    const order = await client.createOrder({
      identifiers: hosts.map((value) => ({ type: "dns", value })),
      ...(await replacing(directory, replaced)),
    })
    await proveAll(client, order, settings, desk)
    const ready = await settled(() => client.getOrder(order), signal)
    if (ready.status !== "ready")
      throw new OrderFailed(`the authority has ended the order: it is ${ready.status}`)
    const [key, request] = await acme.crypto.createCsr({ altNames: [...hosts] }, await newKey())
    await client.finalizeOrder(ready, request)
    const done = await settled(() => client.getOrder(order), signal)
    const cert = await client.getCertificate(done)
    return { cert, key: key.toString() }
  } catch (error) {
    throw error instanceof OrderFailed ? error : new OrderFailed(reasonOf(error, settings), running?.askedMs)
  }
}

/** Finds the account of the key, or registers it. */
async function register(client: Client, { contact, externalAccount }: AcmeSettings): Promise<void> {
  const contacts = contact === undefined ? {} : { contact: [`mailto:${contact}`] }
  try {
    // Not in one request with the registration: for an existing account, the library would send an update without content, which is refused.
    await client.createAccount({ onlyReturnExisting: true })
  } catch {
    await client.createAccount({ termsOfServiceAgreed: true, ...contacts }).catch((error: Error) => {
      // The library's errors with an answer of the authority are plain.
      if (isNetworkFault(error)) throw error
      const which =
        externalAccount === undefined
          ? "an account"
          : `an account for the external account ${externalAccount.id}`
      throw new OrderFailed(`the authority does not register ${which}: ${error.message}`, running?.askedMs)
    })
    return
  }
  if (contact !== undefined) await client.updateAccount(contacts)
}

/** A time of renewal that the authority suggests, and when to ask again (RFC 9773); undefined: it makes none. @throws Error when it does not answer */
export async function suggestion(
  settings: AcmeSettings,
  cert: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<{ readonly window: SuggestedWindow; readonly nextMs: number } | undefined> {
  const id = certificateIdOf(cert)
  if (id === undefined) return undefined
  begin(settings, signal)
  const { renewalInfo } = await directoryOf(settings.directory)
  if (typeof renewalInfo !== "string") return undefined
  const { data, headers, status } = await axios.get<{ suggestedWindow?: { start?: string; end?: string } }>(
    `${renewalInfo}/${id}`,
  )
  const { start = "", end = "" } = data?.suggestedWindow ?? {}
  const window = { startMs: Date.parse(start), endMs: Date.parse(end) }
  if (status !== 200 || !(window.endMs > window.startMs)) throw new Error("the suggestion is malformed")
  const pauseMs = pauseOf(String(headers["retry-after"] ?? ""))
  return { window, nextMs: nextQuestion(nowMs, pauseMs === 0 ? undefined : pauseMs) }
}

/** The certificate that answers TLS-ALPN-01 for a host (RFC 8737 §3). It is valid for nothing else. */
export async function validationContext(host: string, response: string): Promise<SecureContext> {
  const authorization = { identifier: { type: "dns", value: host } } as Authorization
  const [key, cert] = await acme.crypto.createAlpnCertificate(authorization, response, await newKey())
  return createSecureContext({ key, cert })
}

function begin({ ca }: AcmeSettings, signal: AbortSignal): void {
  running = {
    signal,
    agent: new Agent({ lookup: hostNames.lookup, ...(ca === undefined ? {} : { ca }) }),
    askedMs: 0,
  }
}

/** Asks until the authority has finished its part: the state is neither `pending` nor `processing`. */
async function settled<State extends { readonly status: string }>(
  ask: () => Promise<State>,
  signal: AbortSignal,
): Promise<State> {
  for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(pauseMsMax, pauseMs * 1.5)) {
    const state = await ask()
    if (state.status !== "pending" && state.status !== "processing") return state
    await setTimeout(pauseMs, undefined, { signal })
  }
}

async function directoryOf(url: string): Promise<Readonly<Record<string, unknown>>> {
  const { data } = await axios.get<Record<string, unknown> | null>(url)
  return data ?? {}
}

/** Tells an authority that makes suggestions which certificate is renewed: some do not count such orders in their limits (RFC 9773 §5). */
async function replacing(
  directory: string,
  replaced: string | undefined,
): Promise<{ readonly replaces?: string }> {
  const id = replaced === undefined ? undefined : certificateIdOf(replaced)
  if (id === undefined || (await directoryOf(directory))["renewalInfo"] === undefined) return {}
  return { replaces: id }
}

/** Proves the control of each host that the authority does not know yet. */
async function proveAll(
  client: Client,
  order: Order,
  settings: AcmeSettings,
  desk: ChallengeDesk,
): Promise<void> {
  const published: string[] = []
  const authorizations = await client.getAuthorizations(order)
  try {
    // All are settled, so that no challenge is withdrawn while the authority checks it.
    const proved = await Promise.allSettled(
      authorizations.map((each) => prove(client, each, settings, { desk, published })),
    )
    for (const each of proved) if (each.status === "rejected") throw each.reason
  } finally {
    await desk.withdraw(published)
  }
}

async function prove(
  client: Client,
  { status, url, identifier: { value: host }, challenges }: Authorization,
  { challenge: type }: AcmeSettings,
  { desk, published }: { readonly desk: ChallengeDesk; readonly published: string[] },
): Promise<void> {
  if (status === "valid") return
  const challenge = challenges.find((each) => each.type === type)
  if (challenge === undefined) throw new OrderFailed(`the authority does not offer ${type} for ${host}`)
  const response = await client.getChallengeKeyAuthorization(challenge)
  published.push(challenge.token)
  await desk.publish({ token: challenge.token, host, response })
  await client.completeChallenge(challenge)
  const signal = running?.signal ?? AbortSignal.abort()
  const state = await settled(async () => {
    const [found] = await client.getAuthorizations({ authorizations: [url] } as Order)
    return found ?? { status: "missing", challenges: [] }
  }, signal)
  if (state.status === "valid") return
  const [problem] = state.challenges.flatMap(({ error }) => (error === undefined ? [] : [error]))
  const detail = (problem as { readonly detail?: string } | undefined)?.detail ?? `it is ${state.status}`
  throw new OrderFailed(`the authority could not verify ${host} by ${type}: ${detail}`)
}

function isNetworkFault(error: unknown): boolean {
  return (error as { readonly isAxiosError?: boolean }).isAxiosError === true
}

function reasonOf(error: unknown, { directory }: AcmeSettings): string {
  const { code, message } = error as Error & { readonly code?: string }
  if (!isNetworkFault(error)) return message
  return `the authority at ${directory} cannot be reached: ${message || code || "no response"}`
}

/** Retry-After in milliseconds: seconds, or a date (RFC 9110 §10.2.3); 0: none. */
function pauseOf(field: string): number {
  if (/^\d{1,9}$/.test(field)) return Number(field) * 1_000
  const at = Date.parse(field)
  return Number.isNaN(at) ? 0 : Math.max(0, at - Date.now())
}
