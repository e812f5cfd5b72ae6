import { Agent } from "node:https"
import { setTimeout } from "node:timers/promises"
import acme, { type Authorization, type Client, type Order } from "acme-client"
import { hostNames } from "../http/names/host-names.ts"
import { certificateIdOf } from "./certificate-id.ts"
import {
  type IssuedPair,
  OrderFailed,
  type OrderSettings,
  type PublishedChallenge,
  type RenewalSuggestion,
} from "./messages.ts"
import { newPrivateKey } from "./private-key.ts"
import { nextQuestion } from "./schedule.ts"

/** Makes a challenge available to the authority. */
type Publish = (challenge: PublishedChallenge) => Promise<void>

/** Limit on each response of an authority. */
const bytesMax = 1_048_576
const requestMs = 30_000
/** Pauses between two questions about the state of an order, growing from the first to the second. */
const pauseMsMin = 500
const pauseMsMax = 5_000

const { axios } = acme
/** The order or question in progress: a process runs one at a time, because the library has one HTTP client. */
let running: { readonly agent: Agent; askedMs: number } | undefined

axios.interceptors.request.use((config) => {
  config.timeout = requestMs
  config.maxContentLength = bytesMax
  if (running !== undefined) config.httpsAgent = running.agent
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

/**
 * Orders a certificate for all hosts of the settings (RFC 8555 §7.4). Run one order at a time. `replaced`: the certificate that it renews.
 * @throws OrderFailed
 */
export async function orderCertificate(
  settings: OrderSettings,
  accountKey: string,
  replaced: string | undefined,
  publish: Publish,
): Promise<IssuedPair> {
  const { directory, externalAccount, hosts } = settings
  begin(settings)
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
    await proveAll(client, order, settings, publish)
    const ready = await settled(() => client.getOrder(order))
    if (ready.status !== "ready")
      throw new OrderFailed(`the authority has ended the order: it is ${ready.status}`)
    const [key, request] = await acme.crypto.createCsr({ altNames: [...hosts] }, await newPrivateKey())
    await client.finalizeOrder(ready, request)
    const done = await settled(() => client.getOrder(order))
    const cert = await client.getCertificate(done)
    return { cert, key: key.toString() }
  } catch (error) {
    throw error instanceof OrderFailed ? error : new OrderFailed(reasonOf(error, settings), running?.askedMs)
  }
}

/** Finds the account of the key, or registers it. */
async function register(client: Client, { contact, externalAccount }: OrderSettings): Promise<void> {
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
  settings: OrderSettings,
  cert: string,
  nowMs: number,
): Promise<RenewalSuggestion | undefined> {
  const id = certificateIdOf(cert)
  if (id === undefined) return undefined
  begin(settings)
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
export async function validationPair(host: string, response: string): Promise<IssuedPair> {
  const authorization = { identifier: { type: "dns", value: host } } as Authorization
  const [key, cert] = await acme.crypto.createAlpnCertificate(authorization, response, await newPrivateKey())
  return { key: key.toString(), cert: cert.toString() }
}

function begin({ ca }: OrderSettings): void {
  running = {
    agent: new Agent({ lookup: hostNames.lookup, ...(ca === undefined ? {} : { ca }) }),
    askedMs: 0,
  }
}

/** Asks until the authority has finished its part: the state is neither `pending` nor `processing`. */
async function settled<State extends { readonly status: string }>(ask: () => Promise<State>): Promise<State> {
  for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(pauseMsMax, pauseMs * 1.5)) {
    const state = await ask()
    if (state.status !== "pending" && state.status !== "processing") return state
    await setTimeout(pauseMs)
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
  settings: OrderSettings,
  publish: Publish,
): Promise<void> {
  const authorizations = await client.getAuthorizations(order)
  // All are settled, so that the reason is that of a host, and not that its challenge was withdrawn after another one failed.
  const proved = await Promise.allSettled(
    authorizations.map((each) => prove(client, each, settings, publish)),
  )
  for (const each of proved) if (each.status === "rejected") throw each.reason
}

async function prove(
  client: Client,
  { status, url, identifier: { value: host }, challenges }: Authorization,
  { challenge: type }: OrderSettings,
  publish: Publish,
): Promise<void> {
  if (status === "valid") return
  const challenge = challenges.find((each) => each.type === type)
  if (challenge === undefined) throw new OrderFailed(`the authority does not offer ${type} for ${host}`)
  const response = await client.getChallengeKeyAuthorization(challenge)
  await publish({ token: challenge.token, host, response })
  await client.completeChallenge(challenge)
  const state = await settled(async () => {
    const [found] = await client.getAuthorizations({ authorizations: [url] } as Order)
    return found ?? { status: "missing", challenges: [] }
  })
  if (state.status === "valid") return
  const [problem] = state.challenges.flatMap(({ error }) => (error === undefined ? [] : [error]))
  const detail = (problem as { readonly detail?: string } | undefined)?.detail ?? `it is ${state.status}`
  throw new OrderFailed(`the authority could not verify ${host} by ${type}: ${detail}`)
}

function isNetworkFault(error: unknown): boolean {
  return (error as { readonly isAxiosError?: boolean }).isAxiosError === true
}

function reasonOf(error: unknown, { directory }: OrderSettings): string {
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
