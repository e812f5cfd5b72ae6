import type { ShellArgs } from "../args/shell.ts"
import { CliError } from "../command.ts"
import type { Io } from "../io.ts"
import { controlAddress, reasonOf } from "../remote.ts"

const timeoutMs = 60_000

/** What the engine's API refused, with its own code and sentence. */
export class ApiRefusal extends CliError {
  readonly status: number
  readonly apiCode: string

  constructor(status: number, apiCode: string, message: string) {
    super(`${message} (${apiCode})`)
    this.status = status
    this.apiCode = apiCode
  }
}

/** The engine's HTTP API. */
export interface EngineApi {
  readonly url: string
  /** JSON of a 2xx answer, or its text when it is none. @throws ApiRefusal, or CliError when there is no answer. */
  request(method: "GET" | "POST", path: string, body?: unknown): Promise<unknown>
}

/** The API at `--url`, else behind the control listener, which carries `/authz/*` to it. */
export async function engineApi(
  io: Io,
  { url, token }: Pick<ShellArgs, "url" | "token">,
): Promise<EngineApi> {
  if (url !== undefined) return apiAt(url, url, token ?? io.env["SALLYPORT_AUTHZ_TOKEN"] ?? "")
  const control = await controlAddress(io)
  return apiAt(control.url, `${control.url}/authz`, control.token)
}

function apiAt(url: string, base: string, token: string): EngineApi {
  return {
    url,
    async request(method, path, body) {
      const answer = await send(url, base + path, method, token, body)
      const text = await answer.text()
      if (answer.ok) return answer.headers.get("content-type")?.startsWith("text/") ? text : jsonOf(text, url)
      throw refusalOf(answer.status, text)
    },
  }
}

async function send(
  url: string,
  target: string,
  method: string,
  token: string,
  body: unknown,
): Promise<Response> {
  try {
    return await fetch(target, {
      method,
      headers: {
        ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    })
  } catch (error) {
    throw new CliError(
      `no engine answers at ${url} (${reasonOf(error)})`,
      "Is it running? `npm start` starts one here; --url names another.",
    )
  }
}

function jsonOf(text: string, url: string): unknown {
  try {
    return text === "" ? {} : JSON.parse(text)
  } catch {
    throw new CliError(`${url} answers, but not as a Sallyport's engine`, "Check --url.")
  }
}

/** The engine's `{code, message}`, or the control API's problem. */
function refusalOf(status: number, text: string): ApiRefusal {
  try {
    const { code, message, title, detail } = JSON.parse(text) as Record<string, string | undefined>
    if (code !== undefined) return new ApiRefusal(status, code, message ?? "no reason given")
    return new ApiRefusal(status, String(status), detail ?? title ?? "no reason given")
  } catch {
    return new ApiRefusal(status, String(status), "the answer is no JSON")
  }
}
