import { readFile } from "node:fs/promises"
import { join } from "node:path"
import type { ControlMark, ControlProblem } from "../../runtime/control/api.ts"
import { CliError, exitCode } from "./command.ts"
import { traceOfDev } from "./dev/trace.ts"
import { type ApiAddress, exchange, jsonOf, somethingElse } from "./exchange.ts"
import type { Io } from "./io.ts"

const controlMark: ControlMark = "sallyport-control"

/** Where `dev` listens for operators when nothing else is said. */
export const controlUrlDefault = "http://127.0.0.1:8082"
/** Where `dev` leaves its control token, relative to the project. */
export const tokenFile = ".sallyport/control.token"

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

/** Finds address and token: `SALLYPORT_CONTROL_URL` and `SALLYPORT_CONTROL_TOKEN`, else what `sallyport dev` in this folder left. `at` goes before the first. */
export async function connect(io: Io, at?: string): Promise<Remote> {
  const { url, token } = await controlAddress(io, at)
  return remoteAt(url, token)
}

/** Where the control API is, as `connect` finds it; the URL does not end in `/`. */
export async function controlAddress(
  io: Io,
  at?: string,
): Promise<{ readonly url: string; readonly token: string }> {
  const url = (
    at ??
    (io.env["SALLYPORT_CONTROL_URL"] || traceOfDev(io)?.control || controlUrlDefault)
  ).replace(/\/$/, "")
  if (!/^https?:\/\/[^\s]+$/.test(url) || !URL.canParse(url)) {
    throw new CliError(
      `${at === undefined ? "SALLYPORT_CONTROL_URL" : "--url"} is not an http(s) URL: ${url}`,
      `Set it like ${controlUrlDefault}.`,
    )
  }
  return { url, token: io.env["SALLYPORT_CONTROL_TOKEN"] || (await tokenOfDev(io)) }
}

/** Work that asks a running Sallyport. Where it fails, the error also says how to do without one. */
export async function orWithout<Result>(without: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof CliError) || error.help === undefined) throw error
    throw new CliError(error.message, `${error.help} ${without}`, error.code)
  }
}

/** The control API at a known address. */
export function remoteAt(url: string, token: string): Remote {
  const address = { url, base: url, token, what: "Sallyport", remedy: "SALLYPORT_CONTROL_URL" }
  return { url, request: (method, path, body) => send(address, method, path, body) }
}

async function tokenOfDev(io: Io): Promise<string> {
  try {
    return (await readFile(join(io.cwd, tokenFile), "utf8")).trim()
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    throw code === "ENOENT"
      ? new CliError(
          "no control token: SALLYPORT_CONTROL_TOKEN is not set, and no `sallyport dev` has run in this folder",
          "Start `sallyport dev` in this folder, or set SALLYPORT_CONTROL_URL and SALLYPORT_CONTROL_TOKEN of the Sallyport to use.",
        )
      : new CliError(
          `${tokenFile} cannot be read (${code})`,
          "Run as the user that started `sallyport dev`, or set SALLYPORT_CONTROL_TOKEN.",
        )
  }
}

async function send(address: ApiAddress, method: string, path: string, body: unknown): Promise<RemoteAnswer> {
  const answer = await exchange(address, method, path, body)
  if (!answer.headers.has(controlMark)) throw somethingElse(address)
  if (answer.status === 401) {
    throw new CliError(
      `${address.url} does not accept the control token`,
      "Set SALLYPORT_CONTROL_TOKEN to the token that Sallyport was started with.",
    )
  }
  return { status: answer.status, body: jsonOf(answer, address) }
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
