import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type { ControlProblem } from "../../runtime/control/api.ts"
import { CliError, exitCode } from "./command.ts"
import { traceOfDev } from "./dev/trace.ts"
import type { Io } from "./io.ts"

/** Where `dev` listens for operators when nothing else is said. */
export const controlUrlDefault = "http://127.0.0.1:8082"
/** Where `dev` leaves its control token, relative to the project. */
export const tokenFile = ".sallyport/control.token"

const timeoutMs = 60_000

/** An answer of the control API: its status and its JSON, undefined when it has none. */
export interface RemoteAnswer {
  readonly status: number
  readonly body: unknown
}

/** The control API of a running Sallyport. Every failure to reach it, and a refused token, is a `CliError` with its remedy. */
export interface Remote {
  readonly url: string
  request(method: string, path: string, body?: unknown): Promise<RemoteAnswer>
}

/** Finds address and token: `SALLYPORT_CONTROL_URL` and `SALLYPORT_CONTROL_TOKEN`, else what `sallyport dev` in this folder left. */
export async function connect(io: Io): Promise<Remote> {
  const { url, token } = await controlAddress(io)
  return remoteAt(url, token)
}

/** Where the control API is, as `connect` finds it; the URL does not end in `/`. */
export async function controlAddress(io: Io): Promise<{ readonly url: string; readonly token: string }> {
  const url = (io.env["SALLYPORT_CONTROL_URL"] || traceOfDev(io)?.control || controlUrlDefault).replace(
    /\/$/,
    "",
  )
  if (!/^https?:\/\/[^\s]+$/.test(url) || !URL.canParse(url)) {
    throw new CliError(
      `SALLYPORT_CONTROL_URL is not an http(s) URL: ${url}`,
      `Set it like ${controlUrlDefault}.`,
    )
  }
  return { url, token: io.env["SALLYPORT_CONTROL_TOKEN"] || (await tokenOfDev(io)) }
}

/** The control API at a known address. */
export function remoteAt(url: string, token: string): Remote {
  return { url, request: (method, path, body) => send(url, token, method, path, body) }
}

async function tokenOfDev(io: Io): Promise<string> {
  try {
    return (await readFile(join(io.cwd, tokenFile), "utf8")).trim()
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    throw code === "ENOENT"
      ? new CliError(
          "no control token: SALLYPORT_CONTROL_TOKEN is not set, and no `sallyport dev` has run in this folder",
          "Start `npm start` here, or set SALLYPORT_CONTROL_URL and SALLYPORT_CONTROL_TOKEN for the Sallyport you mean.",
        )
      : new CliError(
          `${tokenFile} cannot be read (${code})`,
          "Run as the user that started `sallyport dev`, or set SALLYPORT_CONTROL_TOKEN.",
        )
  }
}

async function send(
  url: string,
  token: string,
  method: string,
  path: string,
  body: unknown,
): Promise<RemoteAnswer> {
  let response: Response
  try {
    response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    })
  } catch (error) {
    throw new CliError(
      `no Sallyport answers at ${url} (${reasonOf(error)})`,
      "Is it running? `npm start` starts one here; SALLYPORT_CONTROL_URL names another.",
    )
  }
  const text = await response.text()
  if (response.status === 401) {
    throw new CliError(
      `${url} does not accept the control token`,
      "Set SALLYPORT_CONTROL_TOKEN to the token that Sallyport was started with.",
    )
  }
  return { status: response.status, body: parse(text, url) }
}

function parse(text: string, url: string): unknown {
  if (text === "") return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new CliError(`${url} answers, but not as a Sallyport control API`, "Check SALLYPORT_CONTROL_URL.")
  }
}

/** Why a request got no answer: the system's code, else the message. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error && "code" in cause) return String(cause.code)
  return error instanceof Error ? error.message : String(error)
}

/** The answer's JSON when its status is 2xx, else a `CliError` that says what the API said. */
export function expectOk<Body>(answer: RemoteAnswer): Body {
  if (answer.status >= 200 && answer.status < 300) return answer.body as Body
  throw problemError(answer)
}

/** The API's problem as an error for people. A stale plan exits 3: nothing was touched. */
export function problemError(answer: RemoteAnswer): CliError {
  const problem = answer.body as (Partial<ControlProblem> & { code?: string; message?: string }) | undefined
  if (problem?.code !== undefined) return new CliError(`${problem.message} (${problem.code})`)
  const lines = (problem?.problems ?? []).map(
    ({ path, message, origin }) => `\n  ${origin ?? path}: ${message}`,
  )
  const what = `${problem?.title ?? `status ${answer.status}`}${lines.length > 0 ? lines.join("") : `: ${problem?.detail ?? "no reason given"}`}`
  if (answer.status === 412) {
    return new CliError(what, "Run `sallyport plan` again and review what changed since.", exitCode.refused)
  }
  return new CliError(what)
}
