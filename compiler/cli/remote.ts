import type { ControlMark, ControlProblem } from "../../runtime/control/api.ts"
import { visible } from "../render/width.ts"
import { CliError, exitCode } from "./command.ts"
import { type ControlTls, controlTlsOf } from "./control-tls.ts"
import { type ControlCredential, credentialFor, givenCredential } from "./credential.ts"
import { traceOfDev } from "./dev/trace.ts"
import { type ApiAddress, exchange, jsonOf, somethingElse } from "./exchange.ts"
import type { Io } from "./io.ts"

const controlMark: ControlMark = "sallyport-control"

/** Default URL of the control listener of `dev`. */
export const controlUrlDefault = "http://127.0.0.1:8082"

/** A response of the control API: its status and its JSON, undefined if empty. */
export interface RemoteAnswer {
  readonly status: number
  readonly body: unknown
}

/** The control API of a running Sallyport. Connection failures and a refused token are a `CliError` with a remedy. */
export interface Remote {
  readonly url: string
  /** Undefined: requests have none. */
  readonly credential: ControlCredential | undefined
  request(method: string, path: string, body?: unknown): Promise<RemoteAnswer>
  /** The same for a 2xx response of JSON lines: each line is given to `onLine` as it arrives, and the answer has no body. */
  lines(path: string, body: unknown, onLine: (line: unknown) => void): Promise<RemoteAnswer>
}

/**
 * Finds address and credential: `SALLYPORT_CONTROL_URL`, else the address of `sallyport dev` in this folder; `credentialFor` finds the credential.
 * `at` has precedence over the URL.
 */
export async function connect(io: Io, at?: string): Promise<Remote> {
  const url = controlUrl(io, at)
  const [credential, tls] = await Promise.all([credentialFor(io, url), controlTlsOf(io)])
  return remoteAt(url, credential, tls)
}

/** The URL of the control API, as `connect` finds it; it does not end in `/`. */
export function controlUrl(io: Io, at?: string): string {
  const url = (
    at ??
    (io.env["SALLYPORT_CONTROL_URL"] || traceOfDev(io)?.control || controlUrlDefault)
  ).replace(/\/$/, "")
  if (/^https?:\/\/[^\s]+$/.test(url) && URL.canParse(url)) return url
  throw new CliError(
    `${at === undefined ? "SALLYPORT_CONTROL_URL" : "--url"} is not an http(s) URL: ${url}`,
    `Set it like ${controlUrlDefault}.`,
  )
}

/** Runs work that needs a running Sallyport. If it fails, the error also says how to work without one. */
export async function orWithout<Result>(without: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof CliError) || error.help === undefined) throw error
    throw new CliError(error.message, `${error.help} ${without}`, error.code)
  }
}

/** The control API at a known address; `credential` undefined: requests have none. */
export function remoteAt(
  url: string,
  credential: ControlCredential | string | undefined,
  tls?: ControlTls,
): Remote {
  const known = typeof credential === "string" ? givenCredential(credential) : credential
  const token = known === undefined ? "" : () => known.token()
  const address = { url, base: url, token, tls, what: "Sallyport", remedy: "SALLYPORT_CONTROL_URL" }
  return {
    url,
    credential: known,
    request: (method, path, body) => send(address, known, { method, path, body }),
    lines: (path, body, onLine) =>
      send(address, known, { method: "POST", path, body, onData: lineReader(onLine) }),
  }
}

/** The control API does not know the caller by this credential (401). `detail`: its reason. */
export class CredentialRefused extends CliError {
  readonly detail: string | undefined

  constructor(url: string, { what, remedy }: ControlCredential, detail: string | undefined) {
    super(`${url} refused ${what}${detail === undefined ? "" : `: ${detail}`}`, remedy)
    this.detail = detail
  }
}

interface RemoteRequest {
  readonly method: string
  readonly path: string
  readonly body: unknown
  readonly onData?: (bytes: Buffer) => void
}

/** Cuts bytes into lines of JSON. */
function lineReader(onLine: (line: unknown) => void): (bytes: Buffer) => void {
  const decoder = new TextDecoder()
  let rest = ""
  return (bytes) => {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) onLine(JSON.parse(line))
  }
}

/** Checks that the responder is a control API before it is believed: another service at the address may answer anything. */
async function send(
  address: ApiAddress,
  credential: ControlCredential | undefined,
  { method, path, body, onData }: RemoteRequest,
): Promise<RemoteAnswer> {
  const answer = await exchange(address, method, path, body, onData)
  if (!answer.headers.has(controlMark))
    throw refusedConnection(answer.text, address.url) ?? somethingElse(address)
  if (answer.status === 401 && credential !== undefined) {
    const { detail } = jsonOf(answer, address) as Partial<ControlProblem>
    throw new CredentialRefused(address.url, credential, detail)
  }
  return { status: answer.status, body: jsonOf(answer, address) }
}

/** The listener's own refusals, which it sends before it reads a request. */
function refusedConnection(text: string, url: string): CliError | undefined {
  if (text.includes("urn:sallyport:control:https-required"))
    return new CliError(`${url} accepts only HTTPS`, "Write `https:` in SALLYPORT_CONTROL_URL or --control.")
  if (text.includes("urn:sallyport:control:certificate-required"))
    return new CliError(
      `${url} demands a client certificate: ${(JSON.parse(text) as ControlProblem).detail}`,
      "Give one with `--cert FILE --cert-key FILE`, or SALLYPORT_CONTROL_CERT and SALLYPORT_CONTROL_CERT_KEY.",
    )
  return undefined
}

/** The JSON of a 2xx response. @throws CliError with the API's message for other statuses. */
export function expectOk<Body>(answer: RemoteAnswer): Body {
  if (answer.status >= 200 && answer.status < 300) return answer.body as Body
  throw problemError(answer)
}

/** Converts a problem of the API to an error. A stale plan exits with 3: nothing has changed. */
export function problemError(answer: RemoteAnswer): CliError {
  const problem = answer.body as (Partial<ControlProblem> & { code?: string; message?: string }) | undefined
  if (problem?.code !== undefined) return new CliError(`${problem.message} (${problem.code})`)
  const lines = (problem?.problems ?? []).map(
    ({ path, message, origin }) => `\n  ${origin ?? path}: ${message}`,
  )
  for (const { rule, changes } of problem?.missing ?? [])
    lines.push(`\n  ${rule}${changes.map((each) => `\n    ${visible(each)}`).join("")}`)
  const what = `${problem?.title ?? `status ${answer.status}`}${lines.length > 0 ? lines.join("") : `: ${problem?.detail ?? "no reason given"}`}`
  if (answer.status === 412) {
    return new CliError(what, "Run `sallyport plan` again and review what changed since.", exitCode.refused)
  }
  const help = refusals[problem?.type ?? ""]
  return help === undefined ? new CliError(what) : new CliError(what, help, exitCode.refused)
}

/** What to do about a change that the rules of the running plan do not allow, by the type of the problem. */
const refusals: Readonly<Record<string, string>> = {
  "urn:sallyport:control:plan-unsigned":
    "Sign the plan: `sallyport plan --sign KEYFILE --out FILE`, then `sallyport apply FILE`.",
  "urn:sallyport:control:consent-required":
    "If you may consent, add `--allow opens` (or closes, breaking). Somebody else may: `sallyport consent FILE --allow opens`.",
}
