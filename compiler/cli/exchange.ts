import { CliError } from "./command.ts"

const timeoutMs = 60_000
/** A history of large plans is the largest response there is. */
const responseBytesMax = 1024 ** 3

/** One of the APIs of a running Sallyport, and what to say of it when it does not answer. */
export interface ApiAddress {
  /** As people know it. */
  readonly url: string
  /** What paths are put behind. */
  readonly base: string
  /** Sent as bearer token; empty: none. */
  readonly token: string
  /** What should answer there: `engine`, `Sallyport`. */
  readonly what: string
  /** Where the address came from: how to name another. */
  readonly remedy: string
}

/** An answer as it came. */
export interface Exchanged {
  readonly status: number
  readonly contentType: string
  readonly headers: Headers
  readonly text: string
}

/** Nothing answers at an address. */
export class NoAnswer extends CliError {}

/** One request and its answer, whatever its status. @throws NoAnswer when there is none within a minute; it says where was asked, why there is none and how to ask elsewhere. */
export async function exchange(
  { url, base, token, what, remedy }: ApiAddress,
  method: string,
  path: string,
  body: unknown,
): Promise<Exchanged> {
  const { HttpClient } = await import("../../runtime/http/client/http-client.ts")
  const http = new HttpClient()
  try {
    const answer = await http.send({
      url: base + path,
      method,
      headers: [
        ...(token === "" ? [] : ["authorization", `Bearer ${token}`]),
        ...(body === undefined ? [] : ["content-type", "application/json"]),
      ],
      body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
      timeoutMs,
      responseBytesMax,
    })
    if (answer.status >= 300 && answer.status < 400) throw new Error("unexpected redirect")
    const headers = new Headers()
    for (let at = 0; at < answer.fields.length; at += 2)
      headers.append(answer.fields[at] as string, answer.fields[at + 1] as string)
    const contentType = headers.get("content-type") ?? ""
    return { status: answer.status, contentType, headers, text: answer.body.toString("utf8") }
  } catch (error) {
    throw new NoAnswer(
      `no ${what} answers at ${url} (${reasonOf(error)})`,
      `Start \`sallyport dev\` here, or give another address with ${remedy}.`,
    )
  } finally {
    // A connection that is kept would keep the process.
    await http.close()
  }
}

/** Something answers at an address, but not what was looked for. */
export function somethingElse({ url, what, remedy }: ApiAddress): CliError {
  return new CliError(
    `${url} responds, but is not ${what === "engine" ? "an engine" : "a Sallyport"}`,
    `Check ${remedy}.`,
  )
}

/** The JSON of an answer, undefined when it is empty. @throws CliError when it is none: something else answers there. */
export function jsonOf({ text }: Exchanged, address: ApiAddress): unknown {
  if (text === "") return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw somethingElse(address)
  }
}

/** Why a request got no answer: the system's code, else the message. the client keeps the system's error as the cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error) return "code" in cause ? String(cause.code) : cause.message
  return error instanceof Error ? error.message : String(error)
}
