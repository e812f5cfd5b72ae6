import { CliError } from "./command.ts"
import { type ControlTls, handshakeError } from "./control-tls.ts"

const timeoutMs = 60_000
/** The largest response is a history of large plans. */
const responseBytesMax = 1024 ** 3

/** An API of a running Sallyport, and the help if it does not respond. */
export interface ApiAddress {
  /** The URL for messages. */
  readonly url: string
  /** The prefix of paths. */
  readonly base: string
  /** Sent as bearer token; empty: none. A function is called for each request: a login may have to be refreshed. */
  readonly token: string | (() => Promise<string>)
  /** The expected service: `engine`, `Sallyport`. */
  readonly what: string
  /** Absent: certificates are verified by the system's authorities, and no client certificate is shown. */
  readonly tls?: ControlTls | undefined
  /** Where the address comes from, and how to set another one. */
  readonly remedy: string
}

/** A response with its status and text. */
export interface Exchanged {
  readonly status: number
  readonly contentType: string
  readonly headers: Headers
  readonly text: string
}

/** The address does not respond. */
export class NoAnswer extends CliError {}

/**
 * Sends one request; `body` is JSON, or a buffer with JSON lines. Returns its response with any status. @throws NoAnswer without a response within a minute, with the address, the cause
 * and how to set another address. `onData` gets the bytes of a 2xx response as they arrive, with at most a minute between them.
 */
export async function exchange(
  { url, base, token, tls, what, remedy }: ApiAddress,
  method: string,
  path: string,
  body: unknown,
  onData?: (bytes: Buffer) => void,
): Promise<Exchanged> {
  const bearer = typeof token === "string" ? token : await token()
  const { HttpClient } = await import("../../runtime/http/client/http-client.ts")
  const http = new HttpClient()
  try {
    const answer = await http.send({
      url: base + path,
      method,
      headers: [
        ...(bearer === "" ? [] : ["authorization", `Bearer ${bearer}`]),
        ...(body === undefined ? [] : ["content-type", contentTypeOf(body)]),
      ],
      body: body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body)),
      timeoutMs,
      responseBytesMax,
      ...(onData === undefined ? {} : { onData }),
      ...(tls?.trust === undefined ? {} : { trust: tls.trust }),
      ...(tls?.certificate === undefined ? {} : { certificate: tls.certificate }),
    })
    if (answer.status >= 300 && answer.status < 400) throw new Error("unexpected redirect")
    const headers = new Headers()
    for (let at = 0; at < answer.fields.length; at += 2)
      headers.append(answer.fields[at] as string, answer.fields[at + 1] as string)
    const contentType = headers.get("content-type") ?? ""
    return { status: answer.status, contentType, headers, text: answer.body.toString("utf8") }
  } catch (error) {
    const secured = handshakeError(url, reasonOf(error))
    if (secured !== undefined) throw secured
    throw new NoAnswer(
      `no ${what} responds at ${url} (${reasonOf(error)})`,
      `Start \`sallyport dev\` here, or give another address with ${remedy}.`,
    )
  } finally {
    // A connection that is kept alive would prevent the process from ending.
    await http.close()
  }
}

/** Bytes are JSON lines. */
function contentTypeOf(body: unknown): string {
  return Buffer.isBuffer(body) ? "application/x-ndjson" : "application/json"
}

/** The address belongs to another service. */
export function somethingElse({ url, what, remedy }: ApiAddress): CliError {
  return new CliError(
    `${url} responds, but is not ${what === "engine" ? "an engine" : "a Sallyport"}`,
    `Check ${remedy}.`,
  )
}

/** The JSON of a response, undefined if empty. @throws CliError if it is not JSON: the address belongs to another service. */
export function jsonOf({ text }: Exchanged, address: ApiAddress): unknown {
  if (text === "") return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw somethingElse(address)
  }
}

/** Why a request got no response: the system's error code, else the message. The HTTP client has the system's error as its cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error) return "code" in cause ? String(cause.code) : cause.message
  return error instanceof Error ? error.message : String(error)
}
